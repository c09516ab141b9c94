"""Enrichment of entities with captions and text vectors, computed in the background (FARM D.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import cv2
import numpy as np

from lodestar.models.lexicon import load_lexicon
from lodestar.models.phrases import PhraseBook
from lodestar.scene.captions import says_more
from lodestar.scene.fusion import fuse_captions
from lodestar.scene.lifecycle import EntityRecord
from lodestar.scene.records import View

CHANNEL = "caption"
BATCH = 32


@dataclass(frozen=True)
class EnrichmentTask:
    """Task to caption an entity whose views have changed, with the data for it.

    caption: elected from the detector's votes. seen_as: caption -> visibility of the views with it. size:
    (3,) metres. views: best quality first.
    """

    entity_id: int
    label: str
    caption: str
    attributes: tuple[str, ...]
    seen_as: dict[str, float]
    size: np.ndarray
    views: tuple[View, ...]

    @staticmethod
    def of(record: EntityRecord) -> EnrichmentTask:
        """Return the task for an entity in its present state."""
        views = sorted((kept.view for kept in record.views), key=lambda view: -view.quality)
        size = np.subtract(record.instance.box_max, record.instance.box_min).astype(float)
        return EnrichmentTask(
            record.instance.id,
            record.label,
            record.voted,
            record.attributes,
            dict(record.seen_as),
            size,
            tuple(views),
        )


@dataclass(frozen=True)
class Enrichment:
    """Result of a task.

    label: the task's label. caption: "" keeps the voted caption. vector: (D,) for the embedding "caption",
    computed by `model`. attributes: found by a captioner in addition to the words of the caption.
    """

    entity_id: int
    label: str
    caption: str
    model: str
    vector: np.ndarray | None
    attributes: tuple[str, ...] = ()


class EnrichmentQueue:
    """Entities to be enriched, each once, in the order of arrival."""

    def __init__(self) -> None:
        self._ids: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, identity: int) -> None:
        """Add an entity whose views have changed."""
        self._ids[identity] = None

    def drop(self, identity: int) -> None:
        """Remove an entity."""
        self._ids.pop(identity, None)

    def take(self, limit: int) -> list[int]:
        """Return the next entities and remove them from the queue."""
        taken = [identity for identity, _ in zip(self._ids, range(limit))]
        for identity in taken:
            del self._ids[identity]
        return taken


#: Fetches (h, w, 3) uint8 RGB crops of the images that were kept; called only if they are needed.
Look = Callable[[], Sequence[np.ndarray]]


class Captioner(Protocol):
    """Interface that captions an entity from its crops: by templates, or with a vision model."""

    name: str

    def caption(self, task: EnrichmentTask, look: Look) -> str:
        """Return a short caption, or "" if it would be no better than the voted one.

        look(): crops of the task's views. The call waits only for the images; a caption that takes longer is
        returned by a later call.
        """

    def attributes(self, task: EnrichmentTask) -> tuple[str, ...]:
        """Return the canonical attributes found besides those in the words of the last caption."""


#: Upper limits of hue, OpenCV's degrees / 2, of a saturated pixel's colour; red wraps around at the end.
_HUES = (
    (8, "red"), (20, "orange"), (33, "yellow"), (85, "green"), (130, "blue"), (150, "purple"), (172, "pink"),
    (180, "red"),
)  # fmt: skip
_GREYS = ((60, "black"), (185, "gray"), (256, "white"))  # upper limits of value of a pixel without saturation
_BROWN = 150  # value below which orange is brown
_SATURATED = 70
_SHARE = 0.5  # least share of a crop's inner pixels with one colour


def crop_color(crop: np.ndarray) -> str:
    """Return the colour of most of the middle of a crop (h, w, 3) uint8 RGB; "" if no colour dominates."""
    height, width = crop.shape[:2]
    inner = crop[height // 5 : height - height // 5, width // 5 : width - width // 5]
    if inner.size == 0:
        return ""
    hue, saturation, value = (
        channel.reshape(-1)
        for channel in cv2.split(cv2.cvtColor(np.ascontiguousarray(inner), cv2.COLOR_RGB2HSV))
    )
    names = [name for _, name in _HUES] + [name for _, name in _GREYS] + ["brown"]
    index = np.searchsorted([limit for limit, _ in _HUES], hue, side="right")
    index = np.minimum(index, len(_HUES) - 1)
    index = np.where((index == 1) & (value < _BROWN), len(names) - 1, index)
    grey = len(_HUES) + np.searchsorted([limit for limit, _ in _GREYS], value, side="right")
    index = np.where((saturation < _SATURATED) | (value < _GREYS[0][0]), grey, index)
    shares: dict[str, float] = {}
    for i, count in enumerate(np.bincount(index, minlength=len(names))):
        shares[names[i]] = shares.get(names[i], 0.0) + count / len(index)
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= _SHARE else ""


class TemplateCaptioner:
    """Captions such as "tall brown cabinet" from label, colour and size, for detectors that only give labels.

    tall, wide: metres from which an object is called tall or wide; a tall object must be higher than wide,
    and a wide one wider than high.
    """

    name = "template"

    def __init__(self, tall: float = 1.5, wide: float = 1.5) -> None:
        self._tall, self._wide = tall, wide

    def caption(self, task: EnrichmentTask, look: Look) -> str:
        """Return a template caption, see Captioner.

        It is "" if the detector's caption says more than the label, or if neither shape nor colour is known.
        """
        if not task.label or says_more(task.caption, task.label):
            return ""
        groups = load_lexicon().attribute_group
        color = next((a for a in task.attributes if groups.get(a) == "colors"), "")
        if not color:
            votes = [found for found in (crop_color(crop) for crop in look()) if found]
            color = max(votes, key=lambda name: (votes.count(name), -votes.index(name))) if votes else ""
        width, height = float(max(task.size[0], task.size[1])), float(task.size[2])
        shape = (
            "tall" if height >= max(self._tall, width) else "wide" if width >= max(self._wide, height) else ""
        )
        words = [word for word in (shape, color, task.label) if word]
        return " ".join(words) if len(words) > 1 else ""

    def attributes(self, task: EnrichmentTask) -> tuple[str, ...]:
        """Return (), because a template's caption names all its attributes; see Captioner."""
        return ()


class Enrichable(Protocol):
    """Interface of a scene with a queue of entities to enrich."""

    def take_enrichments(self, limit: int) -> list[EnrichmentTask]: ...

    def return_enrichments(self, ids: Sequence[int]) -> None: ...

    def enrich(self, found: Enrichment) -> None: ...


def crop_of(image: np.ndarray, view: View, margin: float = 0.0) -> np.ndarray:
    """Return the part of an image (H, W, 3) in a view's box, enlarged on each side.

    margin: enlargement as a share of the box's size.
    """
    across, down = round(margin * view.box.width), round(margin * view.box.height)
    x, y = max(view.box.x - across, 0), max(view.box.y - down, 0)
    right, bottom = view.box.x + view.box.width + across, view.box.y + view.box.height + down
    return image[y : max(bottom, 0), x : max(right, 0)]


class Enricher:
    """Worker that enriches a scene's queued entities: gets captions and text vectors, and stores them.

    crops(task): returns the crops for a captioner's `look`; called on the worker's thread.
    """

    def __init__(
        self,
        scene: Enrichable,
        captioner: Captioner,
        phrases: PhraseBook,
        crops: Callable[[EnrichmentTask], Sequence[np.ndarray]] = lambda task: (),
    ) -> None:
        self._scene, self._captioner, self._phrases, self._crops = scene, captioner, phrases, crops

    def work(self, limit: int = BATCH) -> int:
        """Enrich the next entities; return their number.

        Raises MissingPhrases; then the tasks are queued again.
        """
        tasks = self._scene.take_enrichments(limit)
        if not tasks:
            return 0
        try:
            captions = [self._captioner.caption(task, partial(self._crops, task)) for task in tasks]
            wanted: dict[str, None] = {}
            for task, caption in zip(tasks, captions):
                wanted.update(dict.fromkeys(self._weights(task, caption)))
            phrases = [text for text in wanted if text]
            vectors = dict(zip(phrases, self._phrases.vectors(phrases))) if phrases else {}
        except Exception:
            self._scene.return_enrichments([task.entity_id for task in tasks])
            raise
        for task, caption in zip(tasks, captions):
            vector = fuse_captions(self._weights(task, caption), vectors)
            attributes = self._captioner.attributes(task) if caption else ()
            self._scene.enrich(
                Enrichment(task.entity_id, task.label, caption, self._phrases.model, vector, attributes)
            )
        return len(tasks)

    @staticmethod
    def _weights(task: EnrichmentTask, caption: str) -> dict[str, float]:
        """Return caption -> weight for the entity's text vector.

        Each voted caption has its visibility as weight; the captioner's own caption has the sum of all of
        them.
        """
        weights = dict(task.seen_as) or {task.caption or task.label: 1.0}
        if caption:
            weights[caption] = weights.get(caption, 0.0) + sum(weights.values())
        return weights
