"""ROS shell around `MemoryChain` and `Answerer`: remembers what the stack says, and answers questions."""

from __future__ import annotations

from itertools import chain

from lodestar.assembly.config import MemoryConfig
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

CACHED = 4096  # phrases with a vector, 6 MiB; captions come once, names of things again and again


class MemoryNode(LodestarNode):
    """Remember what was seen, done and told, and answer questions about it. It never moves the robot.

    A store that cannot be used never ends the node: memories wait, the diagnostics say why, and it is tried again.

    Subscribes: ``entities``, ``regions``, ``instances``, ``keyframes``, ``stored_keyframes``, ``frontiers``,
    ``decision``, ``directive_report``, ``world_events``, ``grid``, ``camera_info``, TF. Publishes: ``~/snapshots``
    (deltas), ``~/markers``, ``~/wanted_keyframes``, ``~/last_seen``, ``~/looked_at``. Serves: ``~/manage``,
    ``~/get_snapshots`` (paged). Action: ``~/answer``.
    """

    def __init__(self, **kwargs):
        super().__init__("memory", **kwargs)
        PoseGraphInput(self)
        config = declare_part(self, MemoryConfig)
        book = RemotePhraseBook(config.patience, CACHED)
        book.connect(self).want(chain.from_iterable(example_texts()))  # before the first question comes
        self._feed = MemoryFeed(self, config, declare_config(self, FrameNames, "frames."))
        images = KeyframeClient(self, self._feed, config)
        SegmentCaptions(self, self._feed, config, images, lambda: self._keeper.store)
        self._keeper = MemoryKeeper(self, self._feed, config, book, images)
        self._snapshots = SnapshotServer(
            self, self._feed, declare_config(self, CheckpointConfig, "checkpoint.")
        )
        self._last_seen = LastSeenPublisher(self, self._feed.chain, config.last_seen.period)
        limits = config.answering.coverage.look_limits
        self._looked_at = LookedAtPublisher(self, self._feed.chain, limits)
        MemoryDesk(self, self._feed, self._keeper)
        AnswerServer(self, self._feed, self._keeper, config, book, images)
        self.steady_timer(config.tick_period, lambda: self._feed.post(self._tick))

    def _tick(self) -> None:
        """On the feed's worker."""
        self._keeper.tick()
        self._snapshots.tell(self._feed.chain.tick(self.now))
        self._last_seen.tell()
        self._looked_at.tell()


main = main_of(MemoryNode)
