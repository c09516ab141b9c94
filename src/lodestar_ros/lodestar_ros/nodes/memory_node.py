"""ROS shell around `MemoryChain` and `Answerer`: stores the stack's observations and events, and answers questions."""

from __future__ import annotations

from itertools import chain

from lodestar.assembly.config import MEMORY_TICK_PERIOD, MemoryConfig
from lodestar.language.likely_questions import example_texts
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar_ros.answer_server import AnswerServer
from lodestar_ros.embedder_client import RemotePhraseBook
from lodestar_ros.executors import main_of
from lodestar_ros.keyframe_client import KeyframeClient
from lodestar_ros.last_seen import LastSeenPublisher
from lodestar_ros.looked_at import LookedAtPublisher
from lodestar_ros.memory_desk import MemoryDesk
from lodestar_ros.memory_feed import MemoryFeed
from lodestar_ros.memory_keeper import MemoryKeeper
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import declare_config, declare_part
from lodestar_ros.pose_graph_input import PoseGraphInput
from lodestar_ros.segment_captions import SegmentCaptions
from lodestar_ros.snapshot_server import SnapshotServer

# seconds of real time between two lists of last-seen places; chosen: a decision takes longer
LAST_SEEN_PERIOD = 2.0
MEMORY_PATIENCE = 5.0  # s of real time that an answer waits for the text embedder; chosen

CACHED = 4096  # most phrases with a cached vector, 6 MiB; captions are used once, names of objects repeatedly


class MemoryNode(LodestarNode):
    """Remembers observations, actions and statements, and answers questions about them. It never moves the robot.

    A store that cannot be used does not end the node: memories are queued, the diagnostics report the reason, and
    opening is tried again.

    Subscribes: ``entities``, ``regions``, ``instances``, ``keyframes``, ``stored_keyframes``, ``frontiers``,
    ``decision``, ``directive_report``, ``world_events``, ``grid``, ``looks``, TF. Publishes: ``~/snapshots``
    (deltas), ``~/markers``, ``~/wanted_keyframes``, ``~/last_seen``, ``~/looked_at``. Serves: ``~/manage``,
    ``~/get_snapshots`` (paged). Action: ``~/answer``.
    """

    def __init__(self, **kwargs):
        super().__init__("memory", **kwargs)
        PoseGraphInput(self)
        config = declare_part(self, MemoryConfig)
        book = RemotePhraseBook(MEMORY_PATIENCE, CACHED)
        # requested before the first question comes
        book.connect(self).want(chain.from_iterable(example_texts()))
        self._feed = MemoryFeed(self, config, declare_config(self, FrameNames, "frames."))
        images = KeyframeClient(self, self._feed)
        SegmentCaptions(self, self._feed, config, images, lambda: self._keeper.store)
        self._keeper = MemoryKeeper(self, self._feed, config, book, images)
        self._snapshots = SnapshotServer(
            self, self._feed, declare_config(self, CheckpointConfig, "checkpoint.")
        )
        self._last_seen = LastSeenPublisher(self, self._feed.chain, LAST_SEEN_PERIOD)
        limits = config.answering.coverage.look_limits
        self._looked_at = LookedAtPublisher(self, self._feed.chain, limits)
        MemoryDesk(self, self._feed, self._keeper)
        AnswerServer(self, self._feed, self._keeper, config, book, images)
        self.steady_timer(MEMORY_TICK_PERIOD, lambda: self._feed.post(self._tick))
        self.on_close(book.hurry)  # before the others, whose workers wait for it

    def _tick(self) -> None:
        """Update the store and publish changes. Runs on the feed's worker."""
        self._keeper.tick()
        self._snapshots.tell(self._feed.chain.tick(self.now))
        self._last_seen.tell()
        self._looked_at.tell()


main = main_of(MemoryNode)
