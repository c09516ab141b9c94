"""Captions by a vision model, asked for on threads of their own."""

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

WAITING = 256  # entities at most that wait for the model; the oldest is dropped
REMEMBERED = 4096  # descriptions
BETTER = 1.5  # factor of the described view's quality from which the model is asked again


class Describer(Protocol):
    """Port of a vision model; perception.VisionDescriber implements it."""

    def ready(self) -> bool:
        """Return whether a question may be asked now; it counts then."""
        ...

    def describe(self, crop: np.ndarray, label: str) -> Description:
        """Describe a crop (h, w, 3) uint8 RGB. Slow. Raises ChatUnavailable, ValueError for an invalid crop."""
        ...

    def catch_up(self) -> bool:
        """Describe a crop that waits since before; return whether there was one. As `describe`."""
        ...


@dataclass(frozen=True)
class _Known:
    label: str
    quality: float
    description: Description | None  # None: the model was asked and had nothing to say


class VisionCaptioner:
    """A Captioner that answers at once: with the model's last caption of the entity, else with the template's.

    `work` asks the model about the next waiting entity and passes it to again(ids), which queues it once more, so
    that the answer is fetched like any caption. crops(task): (h, w, 3) uint8 RGB; the model sees the first.
    The model is asked only about entities whose votes say no more than the label.
    Safe for threads: one calls `caption`, any number `work`.
    """

    name = "vision"

    def __init__(
        self,
        describer: Describer,
        again: Callable[[Sequence[int]], None],
        crops: Callable[[EnrichmentTask], Sequence[np.ndarray]],
        fallback: TemplateCaptioner | None = None,
    ) -> None:
        self.counts: Counter[str] = (
            Counter()
        )  # described, refused (bad answers), failed (no answer), no_image
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
        """See Captioner."""
        found = self._described(task)
        return found.caption if found is not None else self._fallback.caption(task, look)

    def attributes(self, task: EnrichmentTask) -> tuple[str, ...]:
        """Return the attributes that the model named with its caption."""
        known = self._known.get(task.entity_id)
        fits = known is not None and known.label == task.label and known.description is not None
        return known.description.attributes if fits else ()  # type: ignore[union-attr]

    def _described(self, task: EnrichmentTask) -> Description | None:
        """Return the known description; queue a new question if there is a better view."""
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
        """Ask about the next entity; return whether there was one. Takes as long as the model.

        An entity keeps waiting while the model is unavailable; after an invalid answer the template is used.
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
        """Ask about a crop that waits since before, for whoever asks about it later."""
        try:
            return self._describer.catch_up()
        except (BadAnswer, ValueError) as error:
            self.counts["refused"] += 1
            self.last_failure = str(error)
        except ChatUnavailable as error:
            self.last_failure = str(error)
        return False
