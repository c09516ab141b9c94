"""Stated relations as hypotheses, checked against the geometry after actions (VLM-DEWM 3.2.5, B.5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from lodestar.geometry.boxes import box_distance
from lodestar.models.kinship import same_kind
from lodestar.scene.captions import clean_text
from lodestar.scene.records import Entity, EntityState
from lodestar.worldmodel.amendments import Amendment, Change
from lodestar.worldmodel.belief_measures import Measure, measured
from lodestar.worldmodel.records import Belief, entity_name, entity_of
from lodestar.worldmodel.transactions import Entry, Status

Record = Callable[[int], Entity | None]

AUTHOR, CAPTION = "world_model", "caption"
MAX_STATED = 200  # newest relations that are checked after an action
REACH = 3.0  # m from an object to the anchor in its caption
_FAR = 6.0  # m in x or y between two centres, beyond which kinds are not compared
_CLEAR = 0.1  # m beyond its limit at which a relation that was measured before counts as changed
WORDS = {
    "on": "On", "on top of": "On", "in": "Inside", "inside": "Inside", "under": "Below", "below": "Below",
    "above": "Above", "next to": "NextTo", "beside": "NextTo", "near": "Near",
}  # fmt: skip
RELATION = "|".join(sorted(WORDS, key=len, reverse=True))  # as a regular expression
_CAPTION = re.compile(rf"\b(?P<relation>{RELATION}) (?:an?|the|its|some) (?P<anchor>[\w' -]+)")


def stated(entries: Iterable[Entry]) -> list[Amendment]:
    """Return the newest statement about each relation from the journal's applied entries, oldest first."""
    newest: dict[tuple[str, tuple[str, ...]], Amendment] = {}
    for entry in entries:
        if entry.status is not Status.DONE:
            continue
        for amendment in entry.amendments:
            belief = amendment.belief
            if amendment.change is Change.RELATE and belief is not None:
                newest.pop((belief.predicate, belief.arguments), None)
                if not entry.undoes:
                    newest[belief.predicate, belief.arguments] = amendment
    return list(newest.values())[-MAX_STATED:]


def verified(statements: Iterable[Amendment], record: Record) -> tuple[Amendment, ...]:
    """Return amendments for relations that the geometry contradicts, or measures for the first time.

    record: entity id -> entity. A relation that cannot be measured, or whose object is missing, stays as
    stated.
    """
    found = []
    for statement in statements:
        belief = statement.belief
        assert belief is not None
        measure = measure_of(belief, record)
        if measure is None:
            continue
        holds = measure.holds
        if statement.author == AUTHOR and (
            holds != belief.negated or abs(measure.value - measure.limit) < _CLEAR
        ):
            continue  # already known
        found.append(_finding(statement, belief, measure))
    return tuple(found)


def _finding(statement: Amendment, belief: Belief, measure: Measure) -> Amendment:
    now = Belief(belief.predicate, belief.arguments, not measure.holds)
    agrees = now.negated == belief.negated
    by = (
        ""
        if statement.author == AUTHOR
        else f"; {statement.author} {'rightly' if agrees else 'wrongly'} stated "
    )
    by += "" if not by else f"that it {'does not hold' if belief.negated else 'holds'}"
    reason = f"measured {max(measure.value, 0.0):.2f} m, at most {measure.limit:.2f} m{by}"
    return Amendment(Change.RELATE, reason, AUTHOR, belief=now)


def measure_of(belief: Belief, record: Record) -> Measure | None:
    """Return the measure of a relation between two objects; None if it cannot be measured.

    record: as in `verified`.
    """
    ids = [entity_of(name) for name in belief.arguments]
    things = [record(i) for i in ids if i is not None]
    if len(ids) != 2 or len(things) != 2 or things[0] is None or things[1] is None:
        return None
    if any(thing is None or thing.state is EntityState.ARCHIVED for thing in things):
        return None
    return measured(belief.predicate, things[0], things[1])


def captioned(thing: Entity, things: Sequence[Entity]) -> Belief | None:
    """Return the relation in a caption such as "a mug on a desk", as a belief; None if it has none.

    The second object (the desk) is the nearest one of its kind within REACH.
    """
    found = _CAPTION.search(clean_text(thing.caption).casefold())
    if found is None:
        return None
    words, (x, y) = found["anchor"].split(), thing.mean[:2].tolist()
    near = [
        (float(box_distance(thing.box_min, thing.box_max, other.box_min, other.box_max)), other.id)
        for other in things
        if other.id != thing.id
        and other.state is not EntityState.ARCHIVED
        and abs(float(other.mean[0]) - x) < _FAR
        and abs(float(other.mean[1]) - y) < _FAR
        and any(
            same_kind(other.label, " ".join(words[i:n])) for n in range(1, len(words) + 1) for i in range(n)
        )
    ]
    if not near or min(near)[0] > REACH:
        return None
    return Belief(WORDS[found["relation"]], (entity_name(thing.id), entity_name(min(near)[1])))
