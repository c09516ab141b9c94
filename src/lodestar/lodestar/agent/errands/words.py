"""Sentences for feedback and reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lodestar.experts.protocol import Proposal
from lodestar.language.directive import Directive, Step, StepKind
from lodestar.language.sentences import sentence
from lodestar.language.step_kinds import step_spec
from lodestar.models.english import with_article
from lodestar.query.verdict import Candidate
from lodestar.scene.captions import clean_text
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState


def _clean(words: str) -> str:
    return clean_text(words) or "thing"


def name_of(entity: Entity) -> str:
    """The entity as a person would name it, and its id: "a red chair (entity 12)"."""
    return f"{with_article(_clean(entity.caption or entity.label))} (entity {entity.id})"


def place_of(entity: Entity, mirror: SceneMirror | None) -> str:
    """Return where the entity is: "in the kitchen at (3.1, 2.0)"."""
    region = mirror.regions.get(entity.region_id) if mirror is not None else None
    room = f"in the {clean_text(region.label)} " if region is not None and region.label else ""
    return f"{room}at ({entity.mean[0]:.1f}, {entity.mean[1]:.1f})"


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
