"""Captions by a vision model, requested on separate threads."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lodestar.models.chat import BadAnswer, ChatUnavailable
from lodestar.perception.captioner import Description
from lodestar.scene.captions import says_more
from lodestar.scene.enrichment import EnrichmentTask, Look, TemplateCaptioner

WAITING = 256  # most entities that wait for the model; the oldest is dropped
REMEMBERED = 4096  # most stored descriptions
BETTER = 1.5  # quality ratio to the described view from which the model is asked again


class Describer(Protocol):
    """Interface of a vision model that describes an image crop; perception.VisionDescriber implements it."""

    def ready(self) -> bool:
        """Return whether a request is allowed now, and count it if so."""

    def describe(self, crop: np.ndarray, label: str) -> Description:
        """Return the description of a crop (h, w, 3) uint8 RGB.

        Slow. Raises ChatUnavailable, ValueError for an invalid crop.
        """

    def catch_up(self) -> bool:
        """Describe a crop that is still waiting; return whether there was one.

        Raises the errors of `describe`.
        """


@dataclass(frozen=True)
class _Known:
    label: str
    quality: float
    description: Description | None  # None: the model gave no description


class VisionCaptioner:
    """Captioner that never blocks: it returns the model's last caption of the entity, else the template's.

    `work` asks the model about the next waiting entity and passes its id to again(ids), which queues the
    entity once more, so that the new caption is fetched like any other. crops(task): (h, w, 3) uint8 RGB; the
    model sees the first. The model is asked only about entities whose detector gave no caption besides the
    label. Thread-safe: one thread calls `caption`, any number `work`.
    """

    name = "vision"

    def __init__(
        self,
        describer: Describer,
        again: Callable[[Sequence[int]], None],
        crops: Callable[[EnrichmentTask], Sequence[np.ndarray]],
        fallback: TemplateCaptioner | None = None,
    ) -> None:
        # keys: described, refused (bad answers), failed (no answer), no_image
        self.counts: Counter[str] = Counter()
        self.last_failure = ""
        self._describer, self._again, self._crops = describer, again, crops
        self._fallback = fallback or TemplateCaptioner()
        self._lock = threading.Lock()
        self._waiting: dict[int, EnrichmentTask] = {}
        self._known: dict[int, _Known] = {}

    @property
    def waiting(self) -> int:
        """Return the number of entities that wait for the model."""
        return len(self._waiting)

    def caption(self, task: EnrichmentTask, look: Look) -> str:
        """Return the model's caption if there is one, else the template's; see Captioner."""
        found = self._described(task)
        return found.caption if found is not None else self._fallback.caption(task, look)

    def attributes(self, task: EnrichmentTask) -> tuple[str, ...]:
        """Return the attributes that the model named with its caption."""
        known = self._known.get(task.entity_id)
        fits = known is not None and known.label == task.label and known.description is not None
        return known.description.attributes if fits else ()  # type: ignore[union-attr]

    def _described(self, task: EnrichmentTask) -> Description | None:
        """Return the model's stored description of an entity, or None.

        The entity is queued for the model if it has none yet, or if a better view exists.
        """
        if not task.label or says_more(task.caption, task.label):
            return None
        best = max((view.quality for view in task.views if view.keyframe_id), default=0.0)
        with self._lock:
            known = self._known.get(task.entity_id)
            if known is not None and known.label != task.label:
                known = None
            if best > 0.0 and (known is None or best > BETTER * known.quality):
                self._waiting.pop(task.entity_id, None)
                self._waiting[task.entity_id] = task
                while len(self._waiting) > WAITING:
                    del self._waiting[next(iter(self._waiting))]
            return None if known is None else known.description

    def work(self) -> bool:
        """Ask the model about the next entity; return whether there was one. Blocks until the model answers.

        While the model is unavailable, the entity keeps waiting; after an invalid answer the template is
        used.
        """
        if not self._describer.ready():
            return False
        with self._lock:
            identity = next(iter(self._waiting), 0)
            task = self._waiting.pop(identity, None)
        if task is None:
            return self._caught_up()
        crops = self._crops(task)
        description = None
        try:
            if crops:
                description = self._describer.describe(crops[0], task.label)
            self.counts["described" if crops else "no_image"] += 1
        except (BadAnswer, ValueError) as error:
            self.counts["refused"] += 1
            self.last_failure = str(error)
        except ChatUnavailable as error:
            self.counts["failed"] += 1
            self.last_failure = str(error)
            with self._lock:
                self._waiting.setdefault(identity, task)
            return True
        best = max((view.quality for view in task.views if view.keyframe_id), default=0.0)
        with self._lock:
            self._known.pop(identity, None)
            self._known[identity] = _Known(task.label, best, description)
            while len(self._known) > REMEMBERED:
                del self._known[next(iter(self._known))]
        if description is not None:
            self._again([identity])
        return True

    def _caught_up(self) -> bool:
        """Describe a crop that waits in the describer; return whether there was one.

        A later request for that crop is then answered at once.
        """
        try:
            return self._describer.catch_up()
        except (BadAnswer, ValueError) as error:
            self.counts["refused"] += 1
            self.last_failure = str(error)
        except ChatUnavailable as error:
            self.last_failure = str(error)
        return False
