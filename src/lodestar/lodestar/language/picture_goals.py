"""A picture of the target as phrases and neighbours: what perception says of it becomes an item."""

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

_END = r"(?=\s*(?:$|[.,;!?]|and\b|then\b|but\b))"  # of what is asked for
_POINTED_AT = re.compile(rf"\b(?:this|that|it)(?: one)?\b{_END}", re.IGNORECASE)
#: "(what is) (shown) in the picture". It begins with a word, so that no run of spaces is gone through twice.
_SHOWN = re.compile(
    r"\b(?P<thing>(?:what(?:['’]s)?|(?:the|this|that)\s+one)\s+)?"
    r"(?:(?:(?:that|which)\s+)?(?:is|are)\s+)?(?:(?:shown|seen|depicted|pictured)\s+)?in\s+"
    rf"(?:the|this|that|these|those|my)\s+(?:attached\s+)?(?:picture|photo|photograph|image)s?\b{_END}",
    re.IGNORECASE,
)

#: Says what the thing in a picture file is. Raises BadPicture.
PictureReader = Callable[[bytes], Item]


@dataclass(frozen=True)
class PictureGoalConfig:
    """Weights of pixels and segments: people photograph a whole thing, and put it in the middle."""

    spread: float = 0.2  # share of half the diagonal from the middle at which a pixel counts 1/e; chosen
    cut: float = 0.75  # weight of a segment that the picture's border cuts; chosen
    neighbors: int = 2  # things beside the target, at most; chosen
    gap: float = 0.15  # share of the picture's width between a neighbour and the target, at most; chosen
    # weight of the reading without neighbours; chosen: they may be hidden from where the robot comes
    alone_weight: float = 0.5


@dataclass(frozen=True)
class Described:
    """Contents of a picture, as untrusted words: a target and what is near it."""

    label: str
    caption: str
    neighbors: tuple[str, ...] = ()


def unread(image: bytes, config: PictureConfig) -> Item:
    """Refuse a picture, for want of a reader. Raises BadPicture, also for what is no picture."""
    decode_picture(image, config)
    raise BadPicture(
        "no picture reader is configured: set shared.pictures.adapter to detector or model "
        "(docs/how-to/send-a-goal.md), or describe the target in words"
    )


def goal_of(segmented: SegmentedFrame, config: PictureGoalConfig = PictureGoalConfig()) -> Item:
    """The thing in the middle of a segmented picture. Raises BadPicture where nothing there has a name."""
    named = [d for d in segmented.detections if clean_text(d.label)]
    if not named:
        raise BadPicture(
            "nothing in the picture was recognised; send one with the thing in the middle, or use words"
        )
    width = segmented.labels.shape[1]
    scores = _prominence(named, segmented.labels, config)
    target = named[int(np.argmax(scores))]
    near = sorted(
        (gap, d.label)
        for d in named
        if d is not target and d.label != target.label and (gap := _gap(d, target) / width) <= config.gap
    )
    neighbors = tuple(dict.fromkeys(label for _, label in near))[: config.neighbors]
    return item_of(Described(target.label, target.caption or target.label, neighbors), config)


def item_of(shown: Described, config: PictureGoalConfig = PictureGoalConfig()) -> Item:
    """The thing that is described; a reading with the neighbours, and one without. Raises BadPicture."""
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
        : config.neighbors
    ]
    alone = QueryGraph((target,), attributes)
    if not neighbors:
        return Item(((alone,),))
    return Item((_beside((alone,), neighbors, config),))


def _beside(
    readings: tuple[QueryGraph, ...], neighbors: Sequence[str], config: PictureGoalConfig
) -> tuple[QueryGraph, ...]:
    """Each reading near all of the neighbours, then each as it is; both weigh 1 together where the readings do."""
    weight = 1.0 / (1.0 + config.alone_weight)
    related = []
    for graph in readings:
        first = len(graph.variables)
        anchors = tuple(QueryVariable(name, name) for name in neighbors)
        near = tuple(Predicate("Near", (0, i)) for i in range(first, first + len(anchors)))
        variables = (*graph.variables, *anchors)
        related.append(QueryGraph(variables, (*graph.predicates, *near), weight * graph.weight))
    return (*related, *(replace(graph, weight=graph.weight * (1.0 - weight)) for graph in readings))


class DetectedPictures:
    """Reads pictures of a target with a detector such as perception has; it may load its model with the first."""

    def __init__(
        self,
        detector: Detector,
        file: PictureConfig | None = None,
        config: PictureGoalConfig | None = None,
    ) -> None:
        self._detector = detector
        self._file, self._config = file or PictureConfig(), config or PictureGoalConfig()

    def __call__(self, image: bytes) -> Item:
        """The thing in the middle of the picture. Raises BadPicture."""
        rgb = decode_picture(image, self._file)
        try:
            segmented = self._detector.detect(0.0, rgb)
        except DetectorUnavailable as error:
            raise BadPicture(
                f"the detector that reads pictures cannot run: {error}; or say in words what to find"
            ) from error
        return goal_of(segmented, self._config)


def with_pictures(directive: Directive, images: Sequence[bytes], read: PictureReader) -> Directive:
    """The directive with every picture made into words; what its text says beside them stays.

    An item's own pictures describe it. `images` came with the whole directive: they describe, in their order, the
    searches whose target is open ("this thing"), and are searches of their own, before the way back, where none is
    left. Raises BadPicture.
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
    """The directive of a text that comes with a picture: "find this" means the thing in it, and "in the picture" is no
    place. Raises as `parse` does.
    """
    placeless = _SHOWN.sub(lambda shown: "the thing" if shown["thing"] else "", text)
    return replace(parse(_POINTED_AT.sub("the thing", placeless)), text=text)


def pictures_only(images: Sequence[bytes], read: PictureReader) -> Directive:
    """To find what each picture shows, in their order. Raises BadPicture."""
    return with_pictures(Directive("what the picture shows", ()), images, read)


def _described(item: Item, shown: Sequence[Item], config: PictureGoalConfig = PictureGoalConfig()) -> Item:
    """The item with what its pictures show; words have the last word, and several pictures are alternatives."""
    if is_open(item):
        return replace(item, alternatives=tuple(a for one in shown for a in one.alternatives), images=())
    neighbors = [
        n for n in dict.fromkeys(n for one in shown for n in one.neighbors) if n not in item.neighbors
    ]
    if not neighbors:
        return replace(item, images=())
    near = tuple(_beside(readings, neighbors[: config.neighbors], config) for readings in item.alternatives)
    return replace(item, alternatives=near, images=())


def _prominence(detections: Sequence[Detection], labels: np.ndarray, config: PictureGoalConfig) -> np.ndarray:
    """(N,) how much each segment is what the picture is of: what it fills of the middle.

    The middle of its box would not do: it is not the middle of a thing that the border cuts.
    """
    height, width = labels.shape
    dy = np.arange(height)[:, None] + 0.5 - height / 2.0
    dx = np.arange(width)[None] + 0.5 - width / 2.0
    spread = config.spread * math.hypot(width, height) / 2.0
    weights = np.exp(-(dx**2 + dy**2) / spread**2)
    values = [d.label_value for d in detections]
    filled = np.bincount(labels.ravel(), weights.ravel(), max(values) + 1) / weights.sum()
    whole = [1.0 if border_share(d.box, width, height) == 0.0 else config.cut for d in detections]
    return filled[values] * whole * np.array([d.score for d in detections])


def _gap(one: Detection, other: Detection) -> float:
    """Pixels between the boxes of two segments."""
    a, b = one.box, other.box
    dx = max(a.x - b.x - b.width, b.x - a.x - a.width, 0)
    dy = max(a.y - b.y - b.height, b.y - a.y - a.height, 0)
    return math.hypot(dx, dy)
