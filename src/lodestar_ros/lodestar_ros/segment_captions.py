"""Captions for segments (some seconds of memory) by a vision model on its own threads, from keyframe
images.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lodestar.assembly.config import MemoryConfig
from lodestar.memory.records import Memory
from lodestar.memory.store import MemoryStore
from lodestar.memory.vision_captions import make_vision_captions
from lodestar_ros.keyframe_client import KeyframeClient
from lodestar_ros.memory_feed import MemoryFeed
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import work_together

TURN = 0.5  # s of real time between two checks for waiting segments


class SegmentCaptions:
    """Writes captions of memory segments, if the configuration names a vision model. The memory node never
    waits for it.

    store(): returns the memory's store, None while it cannot be used.
    """

    def __init__(
        self,
        node: LodestarNode,
        feed: MemoryFeed,
        config: MemoryConfig,
        images: KeyframeClient,
        store: Callable[[], MemoryStore | None],
    ) -> None:
        self._images = images
        made = make_vision_captions(config.captions, self._image_of, store)
        if made is None:
            return
        captions, chat = made
        feed.chain.use_captions(captions)
        work_together(node, "captions", config.captions.parallel, TURN, captions, chat.cancel)
        for name in ("captioned", "refused", "failed", "late", "no_image", "over_budget", "caught_up"):
            node.diagnostics.value(f"captions.{name}", partial(captions.counts.__getitem__, name))
        node.diagnostics.value("captions.last_failure", lambda: captions.last_failure or "none")

    def _image_of(self, memory: Memory) -> bytes:
        """Return the newest keyframe of a segment as a JPEG, b"" if there is none. Runs on the worker."""
        return self._images.picture(memory.images[-1]) or b""
