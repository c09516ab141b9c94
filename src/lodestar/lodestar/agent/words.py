"""What the robot says of what it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lodestar.experts.protocol import Proposal
from lodestar.query.scoring import Candidate
from lodestar.scene.records import Entity, EntityState


def name_of(entity: Entity) -> str:
    """The entity as a person would point at it: "entity 12, a red chair"."""
    words = (entity.caption or entity.label or "thing").strip()
    if words.split(" ", 1)[0].lower() in ("a", "an", "the", "some"):
        return f"entity {entity.id}, {words}"
    article = "an" if words[:1].lower() in "aeiou" else "a"
    return f"entity {entity.id}, {article} {words}"


def going(proposal: Proposal, entity: Entity | None, accepted: bool) -> str:
    """What the robot is about to do."""
    if entity is None:
        return proposal.rationale
    if accepted:
        return f"I think {name_of(entity)}, is it; going to look. {proposal.rationale}".strip()
    return f"{name_of(entity)}, could be it; going closer to see. {proposal.rationale}".strip().capitalize()


def nearest_in_words(candidates: Sequence[Candidate], entities: Mapping[int, Entity], limit: int) -> str:
    """The best candidates with their scores: what was seen instead."""
    parts = []
    for candidate in candidates[:limit]:
        entity = entities.get(candidate.entity_id)
        if entity is not None:
            why = f": {candidate.explanation}" if candidate.explanation else ""
            parts.append(f"{name_of(entity)} ({candidate.score:.2f}{why})")
    return "; ".join(parts)


def inventory(entities: Iterable[Entity]) -> str:
    """Counts by label with ids, one line per label, most frequent first."""
    present = [e for e in entities if e.state is not EntityState.ARCHIVED]
    if not present:
        return "Nothing was recognised."
    counts = Counter(e.label for e in present)
    lines = [f"{len(present)} things:"]
    for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        ids = ", ".join(str(e.id) for e in sorted(present, key=lambda e: e.id) if e.label == label)
        lines.append(f"{count} x {label} ({ids})")
    return "\n".join(lines)
