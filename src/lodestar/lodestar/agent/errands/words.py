"""Sentences for feedback, endings and reports."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy import ndimage

from lodestar.agent.decisions.admission import SEMANTIC_MAP
from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.errand import UNCONFIRMED, UNREACHABLE, GoneThing
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.times import NEVER
from lodestar.experts.protocol import Proposal, RejectionReason
from lodestar.floors.records import Building
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive, Step, StepKind
from lodestar.language.sentences import sentence
from lodestar.language.step_kinds import step_spec
from lodestar.models.english import with_article
from lodestar.query.targets import TargetView
from lodestar.query.verdict import Candidate
from lodestar.scene.captions import clean_text
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState
from lodestar.selection.admission import Admission


def _clean(words: str) -> str:
    return clean_text(words) or "thing"


def name_of(entity: Entity) -> str:
    """The entity as a person would name it, and its id: "a red chair (entity 12)"."""
    return f"{with_article(_clean(entity.caption or entity.label))} (entity {entity.id})"


def place_of(entity: Entity, mirror: SceneMirror | None, building: Building | None = None) -> str:
    """Return where the entity is: "in the kitchen on the second floor at (3.1, 2.0)"; the floor where it is told."""
    region = mirror.regions.get(entity.region_id) if mirror is not None else None
    room = f"in the {clean_text(region.label)} " if region is not None and region.label else ""
    floor = "" if building is None else building.words_at(float(entity.mean[2]), entity.eye)
    return f"{room}{floor}{' ' * bool(floor)}at ({entity.mean[0]:.1f}, {entity.mean[1]:.1f})"


def directive_in_words(directive: Directive) -> str:
    """Return what the robot understood: a sentence that reads as the same directive, on one line."""
    said = " ".join("".join(c if c.isprintable() else " " for c in sentence(directive)).split())
    return f"{said[:1].upper()}{said[1:]}."


def step_in_words(step: Step) -> str:
    """Return what a step is about: "look for a red chair"."""
    return step_spec(step.kind).words(step)


def unable_in_words(unable: Sequence[str]) -> str:
    """Return what the robot cannot do, as it says it: "I cannot wipe the mirror."; empty where there is nothing."""
    said = [clean_text(one).rstrip(".") for one in unable]
    return f"I cannot {', nor '.join(one for one in said if one)}." if any(said) else ""


def nothing_here(step: Step) -> str:
    """Return the report of a look around that showed nothing of what is looked for."""
    if step.kind is not StepKind.FIND:
        return "looked around here; on to the next place"
    target = clean_text(step.target)
    return f"no {target} here; on to the next place" if target else "not here; on to the next place"


def going(proposal: Proposal, entity: Entity | None, accepted: bool) -> str:
    """Return what the robot is about to do, and why. accepted: the proposal's entity meets the query."""
    why = clean_text(proposal.rationale).rstrip(".")
    if entity is not None and f"(entity {entity.id})" not in why:
        why = f"going to {name_of(entity)}: {why}"
    return f"This may be it: {why}." if entity is not None and accepted else f"{why[:1].upper()}{why[1:]}."


def why_not(entity: Entity, explanation: str) -> str:
    """Return that an entity is not what is looked for, and why. explanation: of its candidate, may be empty."""
    return f"{name_of(entity)} is not it{_with_it(entity, explanation)}"


def _with_it(entity: Entity, explanation: str) -> str:
    """Return the explanation of a candidate as ": it is a chair, not red", without the name that it begins with."""
    why = clean_text(explanation.removeprefix(f"{entity.caption or entity.label}: "))
    return f": it {why}" if why else ""


def nearest_in_words(candidates: Sequence[Candidate], entities: Mapping[int, Entity], limit: int) -> str:
    """The best candidates with their scores: what was seen instead."""
    parts = []
    for candidate in candidates[:limit]:
        entity = entities.get(candidate.entity_id)
        if entity is not None:
            why = _with_it(entity, candidate.explanation)
            parts.append(f"{name_of(entity)}, score {candidate.score:.2f}{why}")
    return "; ".join(parts)


def counted(count: int, noun: str) -> str:
    """ "no chair", "1 chair", "3 chairs": `noun` is in the singular."""
    noun = clean_text(noun) or "thing"
    if count == 1:
        return f"1 {noun}"
    plural = noun if noun.endswith("s") else f"{noun}es" if noun.endswith(("ch", "sh", "x")) else f"{noun}s"
    return f"{count or 'no'} {plural}"


def inventory(entities: Iterable[Entity], noun: str, mirror: SceneMirror | None) -> str:
    """Return how many there are, then where each is, region by region: one line per region.

    noun: what was asked for; empty where everything was, and then things are counted by label too.
    """
    present = sorted((e for e in entities if e.state is not EntityState.ARCHIVED), key=lambda e: e.id)
    if not present:
        return f"I saw {counted(0, noun)}."
    lines = [f"I saw {counted(len(present), noun)}."]
    if not noun:
        labels = Counter(e.label for e in present).most_common()
        kinds = sorted(labels, key=lambda item: (-item[1], item[0]))
        lines = [f"{lines[0][:-1]}: {', '.join(counted(n, label) for label, n in kinds)}."]
    regions = mirror.regions if mirror is not None else {}
    rooms: dict[str, list[Entity]] = {}
    for entity in present:
        region = regions.get(entity.region_id)
        name = f"{region.label or 'room'} {region.id}" if region is not None else "elsewhere"
        rooms.setdefault(clean_text(name), []).append(entity)
    for room, things in sorted(rooms.items()):
        listed = "; ".join(f"{name_of(e)} at ({e.mean[0]:.1f}, {e.mean[1]:.1f})" for e in things)
        lines.append(f"- {room}: {listed}")
    return "\n".join(lines)


_ARM = 0.4  # metres from where the robot's centre can be, within which it comes to a place


def give_up(
    run: DirectiveRun, context: LoopContext, admission: Admission, view: TargetView, blind: float = 0.0
) -> tuple[ErrorCode, str]:
    """Code and message of a search that explored everything it could reach.

    blind: seconds for which nothing at all was seen, where that makes the search worth nothing; else 0.
    """
    target = run.step.target or run.directive.text
    known = context.search.accepted(view)
    if known and admission.rejection(SEMANTIC_MAP) is RejectionReason.NO_VIEWPOINT:
        return (
            ErrorCode.TARGET_UNREACHABLE,
            f"{name_of(known[0])} fits {target!r}, but no place from which it can be faced is reachable.",
        )
    fitting = given_up(run, context, view)
    if fitting is not None:
        return fitting
    if blind > 0.0:
        return (
            ErrorCode.NO_EXPERT,
            f"Nothing was seen for {blind:.0f} s, so that the search for {target!r} says nothing: do perception, "
            "semantic_voxels and scene_dictionary run, and does the camera send images?",
        )
    begin = "Everything reachable is explored and no"
    return ErrorCode.TARGET_NOT_FOUND, not_found(run, context, view, begin)


def given_up(run: DirectiveRun, context: LoopContext, view: TargetView) -> tuple[ErrorCode, str] | None:
    """Return code and message of a thing that fits, and that could not be come to or was not seen again there."""
    entities = context.facts.entities
    for reason, code in (
        (UNREACHABLE, ErrorCode.TARGET_UNREACHABLE),
        (UNCONFIRMED, ErrorCode.TARGET_NOT_CONFIRMED),
    ):
        for entity_id, why in run.errand.excluded.items():
            if why == reason and view.score(entity_id) > 0.0 and entity_id in entities:
                target = run.step.target or run.directive.text
                return code, f"{name_of(entities[entity_id])} fits {target!r}: {reason}."
    return None


def not_found(run: DirectiveRun, context: LoopContext, view: TargetView, begin: str = "No") -> str:
    """Return in words that the target was not found, how much of the floor was looked at, and what came nearest."""
    nearest = nearest_in_words(view.candidates, context.facts.entities, run.config.nearest_matches)
    seen = [f"What came nearest: {nearest}."] if nearest else []
    if run.errand.looked_at:
        seen.append(been_in_words(run))
    target = run.step.target or run.directive.text
    told = " ".join(seen or ["Nothing like it was seen."])
    return f"{begin} {target!r} was found. {context.searched.in_words()} {told}"


def been_in_words(run: DirectiveRun) -> str:
    """Return in words why the robot was where the target was likely; "" = it was not there."""
    return f"I have been where it might be: {run.errand.looked_at}." if run.errand.looked_at else ""


def gone(run: DirectiveRun, context: LoopContext) -> tuple[ErrorCode, str]:
    """Return code and message of a search for a thing that was known and is no longer there."""
    thing = next(iter(run.errand.gone.values()))
    when = f", {ago(context.facts.stamp - thing.seen)}" if thing.seen > NEVER else ""
    others = len(run.errand.gone) - 1
    more = f" So {'is' if others == 1 else 'are'} {others} more that fitted." if others else ""
    return (
        ErrorCode.TARGET_GONE,
        f"{name_of_gone(thing)} is gone: it was last seen {thing.place}{when}, and its place is empty now.{more} "
        f"{context.searched.in_words()} No other one was found.",
    )


def hidden(run: DirectiveRun, context: LoopContext) -> tuple[ErrorCode, str]:
    """Return code and message of a search for a thing that was known and is hidden from wherever the robot can go."""
    entities = context.facts.entities
    thing = next((entities[i] for i in run.errand.out_of_sight if i in entities), None)
    name = "the thing" if thing is None else name_of(thing)
    return (
        ErrorCode.TARGET_NOT_CONFIRMED,
        f"{name[:1].upper()}{name[1:]} may still be where it was, but something stands before it, and no place that I "
        f"can reach shows it. {context.searched.in_words()} No other one was found.",
    )


def barred(run: DirectiveRun, context: LoopContext, known: Entity) -> tuple[ErrorCode, str]:
    """Return code and message of a search for a known thing to which no way leads any more."""
    name = name_of(known)
    why = f" ({run.errand.last_failure})" if run.errand.last_failure else ""
    return (
        ErrorCode.TARGET_UNREACHABLE,
        f"{name[:1].upper()}{name[1:]} fits, but the way to it is shut{why}, and I looked for another one in vain. "
        f"{context.searched.in_words()}",
    )


def ago(seconds: float) -> str:
    """Return how long ago something was, in words."""
    return f"{seconds:.0f} s ago" if seconds < 120.0 else f"{seconds / 60.0:.0f} min ago"


def name_of_gone(thing: GoneThing) -> str:
    """Return its name at the begin of a sentence."""
    return f"{thing.name[:1].upper()}{thing.name[1:]}"


def explored_in_words(grid: OccupancyGrid2D, reached: np.ndarray, left: str) -> str:
    """Return in words how much was explored, and how much of that the robot can reach.

    reached: (rows, columns) bool, where its centre can be. left: what the explorer says of the rest.
    """
    cells = math.ceil(_ARM / grid.resolution)
    near = ndimage.binary_dilation(reached, iterations=cells) & grid.free
    share = near.sum() / max(int(grid.free.sum()), 1)
    rest = f": {left}" if left else ""
    return f"Explored {grid.free_area:.0f} m2, {100 * share:.0f} % of which the robot can come to{rest}."
