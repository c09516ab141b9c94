"""Worker for the scene's queue of enrichments, with images from the keyframes node."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from contextlib import suppress
from functools import partial

import cv2
import numpy as np

from lodestar.assembly.config import SCENE_DICTIONARY_ENRICH_PERIOD, SceneDictionaryConfig
from lodestar.assembly.scene_chain import SceneChain
from lodestar.models.phrases import MissingPhrases
from lodestar.perception.caption_book import CaptionBook, captions_home
from lodestar.perception.captioner import make_describer
from lodestar.scene.enrichment import EnrichmentTask, crop_of
from lodestar.scene.vision_captioner import VisionCaptioner
from lodestar.storage.private import UnsafeFolder
from lodestar_interfaces.srv import GetKeyframe
from lodestar_ros.node import LodestarNode
from lodestar_ros.services import ServiceCaller
from lodestar_ros.workers import LatestWorker, work_together

PATIENCE = 1.0  # s that a captioner waits for an image
IMAGES = 16  # most decoded images in the cache
VIEWS = 3  # most views used per entity
MARGIN = 0.15  # margin around a crop for a vision model, as a share of the view's sides


class KeyframeImages:
    """Fetches and caches images of keyframes by id, for workers."""

    def __init__(self, node: LodestarNode, name: str = "get_keyframe") -> None:
        self._caller = ServiceCaller(node, GetKeyframe, name, PATIENCE)
        self.close = self._caller.close
        # id -> image; None: no longer stored
        self._images: OrderedDict[int, np.ndarray | None] = OrderedDict()

    def crops(self, task: EnrichmentTask, margin: float = 0.0) -> list[np.ndarray]:
        """Return crops of the task's best views whose images are stored. Waits up to PATIENCE for each; workers only.

        margin: added around a view, as a share of its sides.
        """
        views = [view for view in task.views if view.keyframe_id][:VIEWS]
        images = [(self._image(view.keyframe_id), view) for view in views]
        return [crop_of(image, view, margin) for image, view in images if image is not None]

    def _image(self, identity: int) -> np.ndarray | None:
        with suppress(KeyError):  # another worker may remove the image between a check and the access
            return self._images[identity]
        response = self._caller.call(id=identity)
        if response is None:
            return None
        image = None
        if response.error_code == 0:
            decoded = cv2.imdecode(np.frombuffer(response.image.data, np.uint8), cv2.IMREAD_COLOR)
            image = None if decoded is None else cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB)
        self._images[identity] = image
        while len(self._images) > IMAGES:
            self._images.popitem(last=False)
        return image


class SceneEnrichment:
    """Enriches entities as they arrive, at most one batch per `period` seconds.

    Calls: ``get_keyframe``, and ``embed`` through the phrase book. A vision model is asked on its own threads,
    about one entity each; the template's captions are used until it has answered.
    """

    def __init__(self, node: LodestarNode, chain: SceneChain, config: SceneDictionaryConfig) -> None:
        self._node, self._chain, self._scene = node, chain, chain.dictionary
        self._images = KeyframeImages(node)
        chain.caption_by(self._images.crops, self._vision(config) if config.captions.asks_model else None)
        self._worker: LatestWorker = LatestWorker("enrich", self._work, node.diagnostics.error)
        node.on_close(self._worker.close)
        # closed first (in reverse order), so that no worker waits for an image
        node.on_close(self._images.close)
        node.diagnostics.value("enrichments.waiting", lambda: self._scene.enrichments_waiting)
        node.steady_timer(SCENE_DICTIONARY_ENRICH_PERIOD, self._wake)

    def _vision(self, config: SceneDictionaryConfig) -> VisionCaptioner:
        """Return a captioner that asks the model on workers, which end with the node."""
        node = self._node
        vision = config.captions.vision
        describer, chat = make_describer(vision, self._book(), node.get_logger().warning)
        captioner = VisionCaptioner(
            describer, self._scene.return_enrichments, lambda task: self._images.crops(task, MARGIN)
        )
        work_together(
            node, "describe", vision.parallel, SCENE_DICTIONARY_ENRICH_PERIOD, captioner, chat.cancel
        )
        node.diagnostics.value("captions.waiting", lambda: captioner.waiting)
        for what in ("described", "refused", "failed", "no_image"):
            node.diagnostics.value(f"captions.{what}", partial(captioner.counts.__getitem__, what))
        node.diagnostics.value("captions.last_failure", lambda: captioner.last_failure)
        return captioner

    def _book(self) -> CaptionBook:
        """Return the stored descriptions, which survive this node; without a usable file they are kept in
        memory only.
        """
        try:
            return CaptionBook(captions_home())
        except (UnsafeFolder, OSError, sqlite3.Error) as error:
            self._node.get_logger().warning(f"descriptions are forgotten when this node ends: {error}")
            return CaptionBook()

    def _wake(self) -> None:
        if self._scene.enrichments_waiting and not self._worker.busy:
            self._worker.submit(None)

    def _work(self, _item: None) -> None:
        """Enrich the next batch. Runs on the worker."""
        try:
            self._chain.enricher.work()
        except MissingPhrases as error:
            self._node.diagnostics.status(f"waiting for the text embedder: {error}", ok=False)
        else:
            self._node.diagnostics.status("running")
