"""Conversion of a picture of the target into an item: a phrase with neighbouring objects, as perception names
them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lodestar.language.directive import Directive, Item, Step, StepKind
from lodestar.language.items import is_open
from lodestar.language.query_graph import Predicate, QueryGraph, QueryVariable
from lodestar.models.lexicon import load_lexicon
from lodestar.perception.frames import Detection, Detector, DetectorUnavailable, SegmentedFrame
from lodestar.perception.pictures import BadPicture, PictureConfig, decode_picture
from lodestar.perception.segments import border_share
from lodestar.scene.captions import clean_text

PICTURE_GOAL_SPREAD = 0.2  # share of half the diagonal from the middle at which a pixel counts 1/e; chosen
PICTURE_GOAL_CUT = 0.75  # weight of a segment that the picture's border cuts; chosen
PICTURE_GOAL_NEIGHBORS = 2  # things beside the target, at most; chosen
PICTURE_GOAL_GAP = 0.15  # share of the picture's width between a neighbour and the target, at most; chosen
# weight of the reading without neighbours; chosen: they may be hidden from where the robot comes
PICTURE_GOAL_ALONE_WEIGHT = 0.5

_END = r"(?=\s*(?:$|[.,;!?]|and\b|then\b|but\b))"  # the end of a request
_POINTED_AT = re.compile(rf"\b(?:this|that|it)(?: one)?\b{_END}", re.IGNORECASE)
#: "(what is) (shown) in the picture". It begins with a word, so that a run of spaces is not scanned twice.
_SHOWN = re.compile(
    r"\b(?P<thing>(?:what(?:['’]s)?|(?:the|this|that)\s+one)\s+)?"
    r"(?:(?:(?:that|which)\s+)?(?:is|are)\s+)?(?:(?:shown|seen|depicted|pictured)\s+)?in\s+"
    rf"(?:the|this|that|these|those|my)\s+(?:attached\s+)?(?:picture|photo|photograph|image)s?\b{_END}",
    re.IGNORECASE,
)

#: Names the object in a picture file. Raises BadPicture.
PictureReader = Callable[[bytes], Item]


@dataclass(frozen=True)
class Described:
    """Contents of a picture as untrusted words: a target and the objects near it."""

    label: str
    caption: str
    neighbors: tuple[str, ...] = ()


def unread(image: bytes, config: PictureConfig) -> Item:
    """Reject every picture, as no reader is configured. Raises BadPicture, also for a file that is no
    picture.
    """
    decode_picture(image, config)
    raise BadPicture(
        "no picture reader is configured: set shared.pictures.adapter to detector or model "
        "(docs/how-to/send-a-goal.md), or describe the target in words"
    )


def goal_of(segmented: SegmentedFrame) -> Item:
    """Return the object in the middle of a segmented picture. Raises BadPicture if no segment has a name."""
    named = [d for d in segmented.detections if clean_text(d.label)]
    if not named:
        raise BadPicture(
            "nothing in the picture was recognised; send one with the thing in the middle, or use words"
        )
    width = segmented.labels.shape[1]
    scores = _prominence(named, segmented.labels)
    target = named[int(np.argmax(scores))]
    near = sorted(
        (gap, d.label)
        for d in named
        if d is not target
        and d.label != target.label
        and (gap := _gap(d, target) / width) <= PICTURE_GOAL_GAP
    )
    neighbors = tuple(dict.fromkeys(label for _, label in near))[:PICTURE_GOAL_NEIGHBORS]
    return item_of(Described(target.label, target.caption or target.label, neighbors))


def item_of(shown: Described) -> Item:
    """Return the described object, in one reading with its neighbours and one without. Raises BadPicture."""
    category = clean_text(shown.label)
    phrase = clean_text(shown.caption) or category
    if not any(c.isalpha() for c in category):
        raise BadPicture("what the picture shows has no name; use words")
    attributes = tuple(
        Predicate("HasAttribute", (0,), attribute) for attribute in load_lexicon().attributes_in(phrase)
    )
    target = QueryVariable(phrase, category)
    cleaned = (clean_text(name) for name in shown.neighbors)
    neighbors = tuple(dict.fromkeys(name for name in cleaned if name and name != category))[
        :PICTURE_GOAL_NEIGHBORS
    ]
    alone = QueryGraph((target,), attributes)
    if not neighbors:
        return Item(((alone,),))
    return Item((_beside((alone,), neighbors),))


def _beside(readings: tuple[QueryGraph, ...], neighbors: Sequence[str]) -> tuple[QueryGraph, ...]:
    """Return each reading with Near relations to all neighbours, then each without; the total weight stays
    the same.
    """
    weight = 1.0 / (1.0 + PICTURE_GOAL_ALONE_WEIGHT)
    related = []
    for graph in readings:
        first = len(graph.variables)
        anchors = tuple(QueryVariable(name, name) for name in neighbors)
        near = tuple(Predicate("Near", (0, i)) for i in range(first, first + len(anchors)))
        variables = (*graph.variables, *anchors)
        related.append(QueryGraph(variables, (*graph.predicates, *near), weight * graph.weight))
    return (*related, *(replace(graph, weight=graph.weight * (1.0 - weight)) for graph in readings))


class DetectedPictures:
    """Reader that names the object in a picture with a detector; the detector may load its model at the first
    picture.
    """

    def __init__(self, detector: Detector, file: PictureConfig | None = None) -> None:
        self._detector, self._file = detector, file or PictureConfig()

    def __call__(self, image: bytes) -> Item:
        """Return the object in the middle of the picture. Raises BadPicture."""
        rgb = decode_picture(image, self._file)
        try:
            segmented = self._detector.detect(0.0, rgb)
        except DetectorUnavailable as error:
            raise BadPicture(
                f"the detector that reads pictures cannot run: {error}; or say in words what to find"
            ) from error
        return goal_of(segmented)


def with_pictures(directive: Directive, images: Sequence[bytes], read: PictureReader) -> Directive:
    """Return the directive with every picture converted to words; words of its text are kept.

    An item's own pictures describe that item. `images` belong to the whole directive: they describe, in
    order, the FIND steps without a named object ("this thing"); each remaining picture becomes a FIND step
    before the final RETURN. Raises BadPicture.
    """
    left = list(images)
    steps: list[Step] = []
    for step in directive.steps:
        item = step.item
        if item is not None and not item.images and left and step.kind is StepKind.FIND and is_open(item):
            item = replace(item, images=(left.pop(0),))
        if item is not None and item.images:
            described = _described(item, [read(image) for image in item.images])
            wanted = None if step.wanted is None else replace(step.wanted, item=described)
            step = replace(step, item=described, wanted=wanted)
        steps.append(step)
    if left:
        kinds = [step.kind for step in steps]
        if kinds and StepKind.FIND not in kinds:
            raise BadPicture(f"a picture says what to find, but the directive is to {kinds[0].name.lower()}")
        end = len(kinds)
        while end and kinds[end - 1] is StepKind.RETURN:
            end -= 1
        steps[end:end] = [Step(StepKind.FIND, read(image)) for image in left]
    return directive.with_steps(steps)


def parse_beside_picture(text: str, parse: Callable[[str], Directive]) -> Directive:
    """Return the directive of a text sent with a picture. Raises the errors of `parse`.

    "Find this" refers to the pictured object, and "in the picture" is not read as a place.
    """
    placeless = _SHOWN.sub(lambda shown: "the thing" if shown["thing"] else "", text)
    return replace(parse(_POINTED_AT.sub("the thing", placeless)), text=text)


def pictures_only(images: Sequence[bytes], read: PictureReader) -> Directive:
    """Return a directive to find the object of each picture, in order. Raises BadPicture."""
    return with_pictures(Directive("what the picture shows", ()), images, read)


def _described(item: Item, shown: Sequence[Item]) -> Item:
    """Return the item described by its pictures.

    An item without a named object becomes any of the pictured objects. An item with words keeps them; the
    objects beside the pictured ones are added as neighbours.
    """
    if is_open(item):
        return replace(item, alternatives=tuple(a for one in shown for a in one.alternatives), images=())
    neighbors = [
        n for n in dict.fromkeys(n for one in shown for n in one.neighbors) if n not in item.neighbors
    ]
    if not neighbors:
        return replace(item, images=())
    near = tuple(_beside(readings, neighbors[:PICTURE_GOAL_NEIGHBORS]) for readings in item.alternatives)
    return replace(item, alternatives=near, images=())


def _prominence(detections: Sequence[Detection], labels: np.ndarray) -> np.ndarray:
    """Return (N,) float64 scores of how likely each segment is the picture's subject, by the central area it
    fills.

    The middle of a segment's box is not used: it is wrong for an object cut off by the border.
    """
    height, width = labels.shape
    dy = np.arange(height)[:, None] + 0.5 - height / 2.0
    dx = np.arange(width)[None] + 0.5 - width / 2.0
    spread = PICTURE_GOAL_SPREAD * math.hypot(width, height) / 2.0
    weights = np.exp(-(dx**2 + dy**2) / spread**2)
    values = [d.label_value for d in detections]
    filled = np.bincount(labels.ravel(), weights.ravel(), max(values) + 1) / weights.sum()
    whole = [1.0 if border_share(d.box, width, height) == 0.0 else PICTURE_GOAL_CUT for d in detections]
    return filled[values] * whole * np.array([d.score for d in detections])


def _gap(one: Detection, other: Detection) -> float:
    """Return the distance in pixels between the boxes of two segments."""
    a, b = one.box, other.box
    dx = max(a.x - b.x - b.width, b.x - a.x - a.width, 0)
    dy = max(a.y - b.y - b.height, b.y - a.y - a.height, 0)
    return math.hypot(dx, dy)
