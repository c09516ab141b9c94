"""Sentences for feedback, results and reports."""

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
from lodestar.agent.facts.config import LOOP_NEAREST_MATCHES
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.times import NEVER
from lodestar.experts.protocol import Proposal, RejectionReason
from lodestar.floors.records import Building
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Directive, Step, StepKind
from lodestar.language.sentences import sentence
from lodestar.language.step_kinds import step_spec
from lodestar.models.english import listed, with_article
from lodestar.query.targets import TargetView
from lodestar.query.verdict import Candidate
from lodestar.scene.captions import clean_text
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState
from lodestar.selection.admission import Admission


def _clean(words: str) -> str:
    return clean_text(words) or "thing"


def name_of(entity: Entity) -> str:
    """Return the entity's name with its id: "a red chair (entity 12)"."""
    return f"{with_article(_clean(entity.caption or entity.label))} (entity {entity.id})"


def place_of(entity: Entity, mirror: SceneMirror | None, building: Building | None = None) -> str:
    """Return where the entity is: "in the kitchen on the second floor at (3.1, 2.0)". The floor needs `building`."""
    region = mirror.regions.get(entity.region_id) if mirror is not None else None
    room = f"in the {clean_text(region.label)} " if region is not None and region.label else ""
    floor = "" if building is None else building.words_at(float(entity.mean[2]), entity.eye)
    return f"{room}{floor}{' ' * bool(floor)}at ({entity.mean[0]:.1f}, {entity.mean[1]:.1f})"


def directive_in_words(directive: Directive) -> str:
    """Return the parsed directive as one sentence that parses to the same directive."""
    said = " ".join("".join(c if c.isprintable() else " " for c in sentence(directive)).split())
    return f"{said[:1].upper()}{said[1:]}."


def step_in_words(step: Step) -> str:
    """Return a step as a phrase: "look for a red chair"."""
    return step_spec(step.kind).words(step)


def unable_in_words(unable: Sequence[str]) -> str:
    """Return the requests beyond the robot's abilities as a sentence: "I cannot wipe the mirror."; "" if there are
    none.
    """
    said = [clean_text(one).rstrip(".") for one in unable]
    return f"I cannot {', nor '.join(one for one in said if one)}." if any(said) else ""


def nothing_here(step: Step) -> str:
    """Return a sentence that the robot looked around and saw no match."""
    if step.kind is not StepKind.FIND:
        return "looked around here; on to the next place"
    target = clean_text(step.target)
    return f"no {target} here; on to the next place" if target else "not here; on to the next place"


def presumed_in_words(kinds: Iterable[str]) -> str:
    """Return a sentence that says which neighbours were not seen of a target that was accepted without them."""
    named = listed(sorted({_clean(kind) for kind in kinds}), "or")
    return f"It is the likeliest one I know; I saw no {named} where you said, and may have missed it."


def going(proposal: Proposal, entity: Entity | None, accepted: bool) -> str:
    """Return the sentence on the next goal and its reason. accepted: the proposal's entity meets the query."""
    why = clean_text(proposal.rationale).rstrip(".")
    if entity is not None and f"(entity {entity.id})" not in why:
        why = f"going to {name_of(entity)}: {why}"
    return f"This may be it: {why}." if entity is not None and accepted else f"{why[:1].upper()}{why[1:]}."


def why_not(entity: Entity, explanation: str) -> str:
    """Return the sentence that an entity is not the target, and why. explanation: of its candidate, may be ""."""
    return f"{name_of(entity)} is not it{_with_it(entity, explanation)}"


def _with_it(entity: Entity, explanation: str) -> str:
    """Return a candidate's explanation as ": it is a chair, not red", without the name that it begins with."""
    why = clean_text(explanation.removeprefix(f"{entity.caption or entity.label}: "))
    return f": it {why}" if why else ""


def nearest_in_words(candidates: Sequence[Candidate], entities: Mapping[int, Entity], limit: int) -> str:
    """Return the best candidates with their scores, as a list in words."""
    parts = []
    for candidate in candidates[:limit]:
        entity = entities.get(candidate.entity_id)
        if entity is not None:
            why = _with_it(entity, candidate.explanation)
            parts.append(f"{name_of(entity)}, score {candidate.score:.2f}{why}")
    return "; ".join(parts)


def counted(count: int, noun: str) -> str:
    """Return the count with its noun: "no chair", "1 chair", "3 chairs". noun: in the singular."""
    noun = clean_text(noun) or "thing"
    if count == 1:
        return f"1 {noun}"
    plural = noun if noun.endswith("s") else f"{noun}es" if noun.endswith(("ch", "sh", "x")) else f"{noun}s"
    return f"{count or 'no'} {plural}"


def inventory(entities: Iterable[Entity], noun: str, mirror: SceneMirror | None) -> str:
    """Return the number of entities, then the position of each, one line per region.

    noun: name of the entities; "" = all were requested, so they are also counted by label.
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


_ARM = 0.4  # metres from a reachable cell of the robot's centre within which floor counts as reached


def give_up(
    run: DirectiveRun, context: LoopContext, admission: Admission, view: TargetView
) -> tuple[ErrorCode, str]:
    """Return code and message for a search that explored everything reachable."""
    target = run.step.target or run.directive.text
    known = [] if view.presumed else context.search.accepted(view)
    if known and admission.rejection(SEMANTIC_MAP) is RejectionReason.NO_VIEWPOINT:
        return (
            ErrorCode.TARGET_UNREACHABLE,
            f"{name_of(known[0])} fits {target!r}, but no place from which it can be faced is reachable.",
        )
    fitting = given_up(run, context, view)
    if fitting is not None:
        return fitting
    begin = "Everything reachable is explored and no"
    blind = unseen(run, context, context.config.scene_patience)
    return blind or (ErrorCode.TARGET_NOT_FOUND, not_found(run, context, view, begin))


def unseen(run: DirectiveRun, context: LoopContext, patience: float) -> tuple[ErrorCode, str] | None:
    """Return code and message if the search says nothing: if no object was seen for longer than `patience`, seconds,
    if no look of the camera on this floor counts, or if there are images and no floor's map has a single thing. Else
    None.
    """
    facts = context.facts
    known = facts.whole or facts.mirror
    is_empty = known is None or not known.entities
    newest = max((facts.last_seen(entity) for entity in facts.entities.values()), default=NEVER)
    silence = facts.stamp - max(newest, run.begun_stamp)
    told = f"Nothing was seen for {silence:.0f} s"
    if not context.searched.has_looks:
        told = "No image entered the map of this floor"
    elif not silence > patience and not (is_empty and facts.sight > NEVER):  # it may be NaN
        return None
    return (
        ErrorCode.NO_EXPERT,
        f"{told}, so that the search for {run.step.target or run.directive.text!r} says "
        "nothing: check that perception, semantic_voxels and scene_dictionary run, that the camera sends images, and "
        "that it is neither covered nor in the dark.",
    )


def given_up(run: DirectiveRun, context: LoopContext, view: TargetView) -> tuple[ErrorCode, str] | None:
    """Return code and message if a matching entity was unreachable or not confirmed, else None."""
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
    """Return a sentence that the target was not found, with the searched share and the nearest matches."""
    nearest = nearest_in_words(view.candidates, context.facts.entities, LOOP_NEAREST_MATCHES)
    seen = [f"What came nearest: {nearest}."] if nearest else []
    if run.errand.looked_at:
        seen.append(been_in_words(run))
    target = run.step.target or run.directive.text
    told = " ".join(seen or ["Nothing like it was seen."])
    return f"{begin} {target!r} was found. {context.searched.in_words(run.step)} {told}"


def been_in_words(run: DirectiveRun) -> str:
    """Return a sentence that the robot was at a likely place, and why it was likely; "" if it was at none."""
    return f"I have been where it might be: {run.errand.looked_at}." if run.errand.looked_at else ""


def gone(run: DirectiveRun, context: LoopContext) -> tuple[ErrorCode, str]:
    """Return code and message for a search whose known object is no longer there."""
    thing = next(iter(run.errand.gone.values()))
    when = f", {ago(context.facts.stamp - thing.seen)}" if thing.seen > NEVER else ""
    others = len(run.errand.gone) - 1
    more = f" So {'is' if others == 1 else 'are'} {others} more that fitted." if others else ""
    return (
        ErrorCode.TARGET_GONE,
        f"{name_of_gone(thing)} is gone: it was last seen {thing.place}{when}, and its place is empty now.{more} "
        f"{context.searched.in_words(run.step)} No other one was found.",
    )


def hidden(run: DirectiveRun, context: LoopContext) -> tuple[ErrorCode, str]:
    """Return code and message for a search whose known object is hidden from all reachable places."""
    entities = context.facts.entities
    thing = next((entities[i] for i in run.errand.out_of_sight if i in entities), None)
    name = "the thing" if thing is None else name_of(thing)
    return (
        ErrorCode.TARGET_NOT_CONFIRMED,
        f"{name[:1].upper()}{name[1:]} may still be where it was, but something stands before it, and no place that I "
        f"can reach shows it. {context.searched.in_words(run.step)} No other one was found.",
    )


def barred(run: DirectiveRun, context: LoopContext, known: Entity) -> tuple[ErrorCode, str]:
    """Return code and message for a search whose known object is no longer reachable."""
    name = name_of(known)
    why = f" ({run.errand.last_failure})" if run.errand.last_failure else ""
    return (
        ErrorCode.TARGET_UNREACHABLE,
        f"{name[:1].upper()}{name[1:]} fits, but the way to it is shut{why}, and I looked for another one in vain. "
        f"{context.searched.in_words(run.step)}",
    )


def ago(seconds: float) -> str:
    """Return how long ago something was, in words."""
    return f"{seconds:.0f} s ago" if seconds < 120.0 else f"{seconds / 60.0:.0f} min ago"


def name_of_gone(thing: GoneThing) -> str:
    """Return the object's name, capitalised."""
    return f"{thing.name[:1].upper()}{thing.name[1:]}"


def explored_in_words(grid: OccupancyGrid2D, reached: np.ndarray, left: str) -> str:
    """Return a sentence on how much floor was explored and how much of it is reachable.

    reached: (rows, columns) bool, reachable cells of the robot's centre. left: the explorer's remark on the
    floor that is not explored.
    """
    cells = math.ceil(_ARM / grid.resolution)
    near = ndimage.binary_dilation(reached, iterations=cells) & grid.free
    share = near.sum() / max(int(grid.free.sum()), 1)
    rest = f": {left}" if left else ""
    return f"Explored {grid.free_area:.0f} m2, {100 * share:.0f} % of which the robot can come to{rest}."
