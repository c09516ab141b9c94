"""ROS shell around `BagPlayer`: waits for the stack's nodes, reports the missing ones, and plays."""

from __future__ import annotations

import time
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.serialization import serialize_message

from lodestar.perception.config import COMPRESSED
from lodestar_ros import qos
from lodestar_ros.bag_files import BagReader, UnreadableBag
from lodestar_ros.bag_player import BagPlayer, PlayConfig, played_topics
from lodestar_ros.executors import main_of
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError, declare, declare_config
from lodestar_ros.recorded_names import CLOCK, PLAYED, TF, TF_STATIC, message_type

CHECK_PERIOD = 0.5  # s of real time between two checks
TELL_PERIOD = 5.0  # s of real time between two log messages about missing nodes
_PROFILES = {TF: qos.TF, TF_STATIC: qos.TF_STATIC, "map": qos.LATCHED, "label_table": qos.EVENT}


class PlayerNode(LodestarNode):
    """Plays a recording's inputs once, as soon as every node of the stack runs.

    Publishes: the names of `recorded_names.PLAYED` that the recording has, and ``/clock``. Subscribes:
    ``/diagnostics``, which shows that a node runs.
    """

    def __init__(self, **kwargs):
        super().__init__("player", **kwargs)
        self._config = declare_config(self, PlayConfig)
        path = Path(declare(self, "bag", str, "")).expanduser()
        # such as "image:=/my_camera/image", for bags with other names
        given = declare(self, "topics", tuple[str, ...], ())
        self._awaited = set(declare(self, "await_nodes", tuple[str, ...], ()))
        try:
            bag = BagReader(path)
        except UnreadableBag as error:
            raise ParameterError(f"bag: {error}") from error
        for part in bag.unreadable:
            self.get_logger().warning(f"{part} has no end, as after a crash: it is left out")
        topics = played_topics(bag, _pairs(given), self.resolve_topic_name)
        inputs = [name for name in topics.values() if name not in (CLOCK, TF, TF_STATIC)]
        if not inputs:
            there = ", ".join(sorted(bag.types)) or "nothing"
            raise ParameterError(f"bag: {path} has none of the stack's inputs; set `topics`. It has {there}")
        self._send = {
            name: self.create_publisher(
                message_type(bag.types[topic]), self._place(topic, name), _PROFILES.get(name, qos.RELIABLE)
            )
            for topic, name in topics.items()
        }
        if CLOCK not in self._send:
            self._send[CLOCK] = self.create_publisher(
                message_type("rosgraph_msgs/msg/Clock"), CLOCK, qos.RELIABLE
            )
        self._player = BagPlayer(bag, topics, self._config, lambda name, raw: self._send[name].publish(raw))
        if TF_STATIC in self._send:
            self._send[TF_STATIC].publish(serialize_message(self._player.static))
        self._first = self._player.first_clock()
        self._bag, self._torn = bag, 0  # number of torn parts that were reported
        self._began, self._told, self._playing = time.monotonic(), 0.0, False
        self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.EVENT)
        self.steady_timer(CHECK_PERIOD, self._check)
        self.diagnostics.value("played", lambda: sum(self._player.counts.values()))
        self.diagnostics.value("messages", lambda: sum(bag.counts[topic] for topic in topics))
        self.diagnostics.value("late_s", lambda: round(self._player.late, 3))
        self.on_close(self._player.close)

    def _place(self, topic: str, name: str) -> str:
        """Return the topic under which an input is played; for compressed images it is below the raw topic."""
        form = topic.rsplit("/", 1)[-1]
        return f"{self.resolve_topic_name(name)}/{form}" if form in COMPRESSED else name

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self._awaited.discard(status.name)

    def _check(self) -> None:
        if self._playing:
            self.diagnostics.status("finished" if self._player.done else "playing")
            self._tell_torn()
            return
        now = time.monotonic()
        patient = now - self._began < self._config.patience
        missing = f"waits for {', '.join(sorted(self._awaited))}" if self._awaited else ""
        if missing and patient:
            self._send[CLOCK].publish(self._first)  # publishes the recording's time while the nodes start
            self.diagnostics.status(missing)
            if now - self._told > TELL_PERIOD:
                self._told = now
                self.get_logger().info(missing)
            return
        if missing:
            self.get_logger().warning(f"plays without {', '.join(sorted(self._awaited))}")
        self.get_logger().info(f"plays {', '.join(name for name in PLAYED if name in self._send)}")
        self._playing = True
        self._player.start()

    def _tell_torn(self) -> None:
        """Report the parts of the recording that end early."""
        torn = [f"{part.name} ends early: {why}" for part, why in self._bag.torn.items()]
        for text in torn[self._torn :]:
            self.get_logger().warning(text)
        self._torn = len(torn)
        if torn:
            self.diagnostics.status(torn[-1], ok=False)


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    """Return name -> topic of texts "name:=topic". Raises ParameterError."""
    pairs = [text.split(":=", 1) for text in texts]
    if not all(len(pair) == 2 and pair[0] in PLAYED for pair in pairs):
        raise ParameterError(
            f"topics: write name:=/topic, where the name is one of {', '.join(PLAYED)}; not {', '.join(texts)}"
        )
    return dict(pairs)


main = main_of(PlayerNode)
