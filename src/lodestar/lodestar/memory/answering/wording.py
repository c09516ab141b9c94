"""Wording of times and places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

import numpy as np

from lodestar.memory.answering.config import ANSWERING_MOVED
from lodestar.memory.answering.inquiry import Inquiry
from lodestar.memory.answering.records import Box, Thing, name_in_words
from lodestar.memory.records import WALL_TIME, EventKind
from lodestar.models.english import duration_in_words, the
from lodestar.models.lexicon import load_lexicon
from lodestar.query.relations import Boxes, inside, on
from lodestar.query.table import load_table
from lodestar.scene.records import Entity, EntityState

ANSWERING_BESIDE = 2.5  # most metres to an object that describes a place; distance at which Near is half true

CHANGED = {EventKind.MOVED: "was moved", EventKind.VANISHED: "was gone", EventKind.APPEARED: "appeared"}
_HOLDS = ("On", "Inside")
_RESTS = 0.5  # score from which an object is on or in another: half true (FARM D.2)


def ago_in_words(stamp: float, now: float) -> str:
    """Return the time since `stamp` in words: "8 minutes ago".

    For wall time older than an hour: "yesterday at 14:05 (18 hours ago)".
    """
    seconds = now - stamp
    if seconds < 5.0:
        return "just now"
    if now >= WALL_TIME and seconds >= 3600.0:
        return f"{clock_in_words(stamp, now)} ({duration_in_words(seconds)} ago)"
    return f"{duration_in_words(seconds)} ago"


def clock_in_words(stamp: float, now: float) -> str:
    """Return wall time in words: "at 14:05", "yesterday at 14:05" or "on 2026-11-03 at 14:05"."""
    then, today = datetime.fromtimestamp(stamp), datetime.fromtimestamp(now)
    days = (today.date() - then.date()).days
    clock = f"at {then:%H:%M}"
    return clock if days == 0 else f"yesterday {clock}" if days == 1 else f"on {then:%Y-%m-%d} {clock}"


def capital(sentence: str) -> str:
    """Return the sentence with a capital first letter."""
    return sentence[:1].upper() + sentence[1:]


def place_in_words(inquiry: Inquiry, box: Box, of: Thing | None = None) -> str:
    """Return a place in words: "on the desk in the kitchen", "next to the printer" or "at (1.2, 3.4)".

    of: object at the place, None = unknown.
    """
    support, beside = _telling(inquiry, box, of)
    building, height = inquiry.tools.scene.building, float(box.centre[2])
    # rooms are known only on the robot's floor
    room = inquiry.room_at(box.centre) if building.is_here(height) else ""
    parts = [support or beside, f"in {the(room)}" if room else "", building.words_at(height)]
    said = " ".join(part for part in parts if part)
    return said or f"at ({box.centre[0]:.1f}, {box.centre[1]:.1f})"


def support_of(inquiry: Inquiry, box: Box, of: Thing | None = None) -> Entity | None:
    """Return the object that supports or contains an object at this place; None if there is none.

    Relations stated by people are preferred to those measured on boxes. of: object at the place.
    """
    if not inquiry.tools.use_scene:
        return None
    found = _around(inquiry, box, of)
    is_now = of is not None and not box.has_left(of.box, ANSWERING_MOVED)
    said = of.entity.stated if of is not None and of.entity is not None and is_now else ()
    held = {one.other for one in said if one.predicate in _HOLDS and not one.negated}
    stated = next((entity for entity in found if entity.id in held), None)
    if stated is not None:
        return stated
    denied = {one.other for one in said if one.predicate in _HOLDS and one.negated}
    found = [entity for entity in found if entity.id not in denied]
    if not found:
        return None
    scores = rest_scores(box, found)
    best = int(np.argmax(scores))
    return found[best] if scores[best] >= _RESTS else None


def rest_scores(box: Box, entities: Sequence[Entity]) -> np.ndarray:
    """Return (N,) scores: how well the box is on or in each of N entities."""
    others = [Box.of_entity(entity) for entity in entities]
    anchors = Boxes(np.array([b.low for b in others])[None], np.array([b.high for b in others])[None])
    own = Boxes(box.low[None, None], np.maximum(box.high, box.low + 1e-3)[None, None])
    table = load_table()
    return np.maximum(on(own, anchors, table), inside(own, anchors, table))[0]


def _around(inquiry: Inquiry, box: Box, of: Thing | None) -> list[Entity]:
    structure, own = load_lexicon().structure, 0 if of is None else of.id
    building = inquiry.tools.scene.building
    floor = building.at(float(box.centre[2]))
    found = []
    for entity in inquiry.tools.scene.entities.values():
        if building.at(float(entity.mean[2])) != floor:
            continue
        if entity.id == own or entity.state is EntityState.ARCHIVED or entity.label.casefold() in structure:
            continue
        other = Box.of_entity(entity)
        gap = np.maximum(np.maximum(other.low - box.high, box.low - other.high), 0.0)[:2]
        if float(np.linalg.norm(gap)) <= ANSWERING_BESIDE:
            found.append(entity)
    return found


def _telling(inquiry: Inquiry, box: Box, of: Thing | None) -> tuple[str, str]:
    """Return two phrases for a place: ("on the desk", ""), ("", "next to the printer") or ("", "")."""
    if not inquiry.tools.use_scene:
        return "", ""
    support = support_of(inquiry, box, of)
    if support is not None:
        held = Box.of_entity(support)
        is_in = bool((box.centre >= held.low).all() and (box.centre <= held.high).all())
        return f"{'in' if is_in else 'on'} {the(name_in_words(support.caption, support.label))}", ""
    size = float(np.prod(np.maximum(box.high - box.low, 0.01)))
    others = [
        (box.away(Box.of_entity(e).centre), e.id, e)
        for e in _around(inquiry, box, of)
        if float(np.prod(np.maximum(e.box_max - e.box_min, 0.01))) >= size
    ]
    if not others:
        return "", ""
    nearest = min(others)[2]
    return "", f"next to {the(name_in_words(nearest.caption, nearest.label))}"


def metres_in_words(metres: float) -> str:
    """Return metres in words: "3.2 m", "120 m"."""
    return f"{metres:.1f} m" if metres < 10.0 else f"{math.floor(metres + 0.5):d} m"
