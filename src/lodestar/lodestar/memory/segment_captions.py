"""Captions of segments, composed from detections: objects, their relations and rooms, the robot's actions.

The wording depends on the content alone, so equal content gives equal captions. Labels and captions of
entities are untrusted; only their words are used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.language.item_words import plural
from lodestar.models.english import NUMBERS, listed, number_in_words, with_article
from lodestar.models.lexicon import load_lexicon
from lodestar.query.relations import PAIRS, Boxes
from lodestar.query.table import load_table
from lodestar.scene.captions import attributes_of, clean_text, says_more, words_only
from lodestar.scene.records import Entity
from lodestar.scene.regions import RegionMap
from lodestar.scene.room_walls import walled_off

SEGMENT_MAX_DESCRIBED = 16  # things in a caption; chosen: what 512 characters hold
SEGMENT_MAX_RELATIONS = 6  # in a caption; chosen
SEGMENT_MIN_RELATION = 0.5  # score from which a relation is stated, half true (FARM D.2)
SEGMENT_MAX_CHARACTERS = 480  # of a caption; the text model reads 512 (models.embedder)
SEGMENT_DRIVE = 0.5  # metres in a segment from which driving alone is worth a caption; chosen

_ATTRIBUTES = 2  # attributes added to a name without a caption
_SUPPORTS = (("On", "on"), ("Inside", "in"))
_DEED_LETTERS = 160


@dataclass(frozen=True)
class SeenThing:
    """Entity in view. pixels: its largest area in the segment's images."""

    entity: Entity
    pixels: int


@dataclass(frozen=True)
class SegmentContent:
    """Contents of a segment. things: largest in the images first. regions: region id -> label.

    deeds: the robot's actions in words. driven: metres. region: label of the robot's own region.
    """

    things: tuple[SeenThing, ...]
    regions: Mapping[int, str]
    deeds: tuple[str, ...] = ()
    driven: float = 0.0
    region: str = ""
    rooms: RegionMap | None = None  # objects on both sides of a wall are not next to each other


def name_of(entity: Entity) -> str:
    """Return the name of an entity with its attributes: "small red mug"; "thing" if it has no name."""
    caption = words_only(entity.caption) if says_more(entity.caption, entity.label) else ""
    name = caption or words_only(entity.label) or "thing"
    said = set(attributes_of(name)) | set(name.casefold().split())
    missing = [
        word for word in (words_only(a, 20, 2) for a in entity.attributes) if word and word not in said
    ]
    return " ".join([*missing[:_ATTRIBUTES], name])


def compose_caption(content: SegmentContent) -> str:
    """Return a caption of one or two sentences, at most SEGMENT_MAX_CHARACTERS long.

    Example: "In the kitchen there are a red mug on a desk and two gray chairs. The robot was looking for a
    mug."
    """
    deeds = [said for said in (words_of_deed(deed) for deed in content.deeds) if said]
    tail = f"The robot was {listed(list(dict.fromkeys(deeds))[:3])}." if deeds else ""
    room = SEGMENT_MAX_CHARACTERS - len(tail) - 1
    sentences = [_view_in_words(content, room)]
    if not sentences[0] and not tail and content.driven >= SEGMENT_DRIVE:
        where = f" through the {words_only(content.region)}" if words_only(content.region) else ""
        sentences = [f"The robot drove {content.driven:.1f} m{where}, with nothing in view that it knows."]
    return " ".join(part for part in (*sentences, tail) if part)[:SEGMENT_MAX_CHARACTERS].strip()


def words_of_deed(deed: str) -> str:
    """Return the robot's action as a part of a sentence: "looking for a red mug".

    Returns "" if it has no letters.
    """
    said = clean_text(deed)[:_DEED_LETTERS].strip(" .!;:")
    return said if any(c.isalpha() for c in said) else ""


def _view_in_words(content: SegmentContent, room: int) -> str:
    """Return a sentence about the objects in view, largest in the images first, as many as fit."""
    structure = load_lexicon().structure
    things = [t for t in content.things if t.entity.label.casefold() not in structure][:SEGMENT_MAX_DESCRIBED]
    if not things:
        return ""
    groups = _phrases(things, content.rooms)
    places: dict[str, list[str]] = {}
    sentence = ""
    for region_id, phrase in groups:
        label = words_only(content.regions.get(region_id, ""))
        places.setdefault(label, []).append(phrase)
        longer = _places_in_words(places)
        if len(longer) > room:
            break
        sentence = longer
    return sentence


def _places_in_words(places: Mapping[str, Sequence[str]]) -> str:
    """Return a sentence about the phrases of each place, places with a label first.

    Example: "In the kitchen there is a mug, and in the hall there are two chairs." places: label of a region
    -> phrases.
    """
    parts: list[str] = []
    for label in sorted(places, key=lambda name: not name):
        phrases = places[label]
        verb = "are" if len(phrases) > 1 or phrases[0].split(" ", 1)[0] in NUMBERS[2:] else "is"
        where = f"in the {label} there {verb}" if label else f"there {verb}"
        also = "" if label or not parts else " also"
        parts.append(f"{where}{also} {listed(phrases)}")
    said = ", and ".join(parts) if len(parts) < 3 else "; ".join(parts)
    return f"{said[:1].upper()}{said[1:]}."


def _phrases(things: Sequence[SeenThing], rooms: RegionMap | None = None) -> list[tuple[int, str]]:
    """Return (region id, phrase) of the objects, each with its support or neighbour: "red mug on a desk".

    Equal phrases are counted; the order of the objects is kept.
    """
    names = [name_of(thing.entity) for thing in things]
    links = _links([thing.entity for thing in things], rooms)
    anchors = {anchor for _, anchor in links.values()}
    groups: dict[tuple[str, int], list[int]] = {}  # (relation, anchor) -> its objects
    for i in range(len(things)):
        if i in links:
            groups.setdefault(links[i], []).append(i)
    alike: dict[tuple[int, str, str, str], int] = {}  # (region, items, relation, anchor's name) -> count
    for i, thing in enumerate(things):
        region = thing.entity.region_id
        if i in links:
            members = groups.pop(links[i], None)
            if members is None:
                continue
            relation, anchor = links[i]
            items = _counted_list([names[m] for m in members])
            key = (region, items, relation, names[anchor])
            alike[key] = alike.get(key, 0) + 1
        elif i not in anchors:
            key = (region, names[i], "", "")
            alike[key] = alike.get(key, 0) + 1
    return [(key[0], _phrase(key, count)) for key, count in alike.items()]


def _phrase(key: tuple[int, str, str, str], count: int) -> str:
    _, items, relation, anchor = key
    if not relation:
        return _counted(items, count)
    if count == 1:
        return f"{items} {relation} {_counted(anchor, 1)}"
    return f"{items} {relation} each of {_counted(anchor, count)}"


def _links(entities: Sequence[Entity], rooms: RegionMap | None = None) -> dict[int, tuple[str, int]]:
    """Return the most informative relations by object: index -> (word, index of the anchor), one per object.

    At most SEGMENT_MAX_RELATIONS. A support is preferred to a neighbour. No relation is stated in both
    directions.
    """
    count = len(entities)
    low = np.array([e.box_min for e in entities], float)
    high = np.array([e.box_max for e in entities], float)
    boxes, anchors = Boxes(low, high).rows(), Boxes(low[None], high[None])
    table = load_table()
    walled = _walled(entities, low, high, rooms)
    candidates: list[tuple[int, float, int, int, str]] = []
    for rank, (predicate, word) in enumerate((*_SUPPORTS, ("NextTo", "next to"))):
        scores = np.nan_to_num(PAIRS[predicate](boxes, anchors, table))
        np.fill_diagonal(scores, 0.0)
        for i, j in zip(*np.nonzero(scores >= SEGMENT_MIN_RELATION)):
            if predicate == "NextTo" and not (
                _tells(entities[int(i)], entities[int(j)]) and not walled[int(i), int(j)]
            ):
                continue
            candidates.append((rank // len(_SUPPORTS), -round(float(scores[i, j]), 6), int(i), int(j), word))
    links: dict[int, tuple[str, int]] = {}
    for _, _, i, j, word in sorted(candidates):
        if len(links) == min(SEGMENT_MAX_RELATIONS, count):
            break
        if i in links or links.get(j, ("", -1))[1] == i:
            continue
        links[i] = (word, j)
    return links


def _walled(
    entities: Sequence[Entity], low: np.ndarray, high: np.ndarray, rooms: RegionMap | None
) -> np.ndarray:
    """Return (N, N) bool: whether a wall stands between two objects."""
    count = len(entities)
    if rooms is None:
        return np.zeros((count, count), bool)
    region = np.array([entity.region_id for entity in entities], int)
    one, other = (index.ravel() for index in np.indices((count, count)))
    walled = walled_off(rooms, region[one], region[other], low[one], high[one], low[other], high[other])
    return walled.reshape(count, count)


def _tells(entity: Entity, anchor: Entity) -> bool:
    """Return whether "entity next to anchor" is informative: the anchor is of another kind and not smaller."""
    size, other = (float(np.prod(np.maximum(e.box_max - e.box_min, 0.01))) for e in (entity, anchor))
    return entity.label.casefold() != anchor.label.casefold() and other >= size


def _counted(name: str, count: int) -> str:
    """Return the name with its count: "a red mug", "three red mugs".

    Plural names such as "white books" are unchanged.
    """
    if load_lexicon().is_plural(name):
        return name
    if count > 1:
        return f"{number_in_words(count, most=12)} {plural(name)}"
    return with_article(name)


def _counted_list(names: Sequence[str]) -> str:
    return listed([_counted(name, count) for name, count in Counter(names).items()])
