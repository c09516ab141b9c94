"""Base class of all nodes: checked inputs, steady timers, workers that end with the node."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import CompressedImage, Image

from lodestar.assembly.shared import SharedConfig
from lodestar_ros import qos
from lodestar_ros.clocks import WallClockWatch, on_jump
from lodestar_ros.conversions import BadMessage, stamp_from_msg
from lodestar_ros.diagnostics import Diagnostics, InputConfig, InputMonitor
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.parameters import declare_config
from lodestar_ros.transforms import TransformListener
from lodestar_ros.twins import Presence, TwinWatch

WALL_PERIOD = 1.0  # s between two checks of the wall clock


class ClockHolder(Protocol):
    """An object that stores stamps (times, waiting pairs, a path, a rate) and can forget them."""

    def restart_clock(self) -> None: ...


H = TypeVar("H", bound=ClockHolder)


@dataclass(frozen=True)
class FrameNames:
    """Names of the frames of REP 105."""

    map: str = "map"
    odom: str = "odom"
    base: str = "base_link"

    @property
    def chain(self) -> tuple[str, str, str]:
        """Return the names from map to base."""
        return self.map, self.odom, self.base


class LodestarNode(Node):
    """A node whose inputs are checked and counted, and whose workers end with it.

    shared: parameters of several parts; every node declares them, so that one section of a profile sets them
    for all.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self.shared = declare_config(self, SharedConfig, "shared.")
        presence = Presence(self.get_fully_qualified_name())
        self.diagnostics = Diagnostics(self, lambda: presence.me.text())
        self._unheard = ""  # the last reported text on publishers of transforms that cannot be received
        self.refusal = ""  # why the node ends itself, "" = it runs on; see executors.run
        self.failed = False  # whether an exception ends this process
        self._twins = TwinWatch(self, presence, self._on_twin)
        self._closers: list[Callable[[], None]] = []
        self._timed: list[Callable[[], object]] = [self.diagnostics.restart_clock]
        self._jump_handle = on_jump(self, self.restart_clock)
        self._wall = WallClockWatch()
        self.steady_timer(WALL_PERIOD, self._watch_wall)

    def _on_twin(self, why: str) -> None:
        self.refusal = self.refusal or why

    @property
    def now(self) -> float:
        """Return seconds of the node's clock."""
        return self.get_clock().now().nanoseconds * 1e-9

    def timed(self, holder: H) -> H:
        """Register an object whose `restart_clock` is called when time restarts; return it. See `restart_clock`."""
        self._timed.append(holder.restart_clock)
        return holder

    def on_clock_restart(self, reset: Callable[[], object]) -> None:
        """Register a function that is called on the executor when time restarts."""
        self._timed.append(reset)

    def restart_clock(self) -> None:
        """Forget all stamps: simulated time jumped back, the wall clock was set back or an input was restarted."""
        for reset in self._timed:
            try:
                reset()
            except Exception as error:  # the other objects must forget too
                self.diagnostics.error(error)

    def _watch_wall(self) -> None:
        simulated = self.get_clock().ros_time_is_active
        if self._wall.went_back(self.now, time.monotonic()) and not simulated:
            self.get_logger().warning("the wall clock was set back; stamps count from now on")
            self.restart_clock()

    def listen(
        self,
        message_type: Any,
        topic: str,
        callback: Callable[[Any], None],
        profile: QoSProfile,
        *,
        stamped: bool = False,
        raw: bool = False,
        inputs: InputConfig | None = None,
    ) -> None:
        """Subscribe; late, repeated or malformed messages are counted and dropped, and no error ends the node.

        stamped: the header's stamp must ascend. raw: the callback takes the serialized bytes. Images are
        CompressedImages where ``shared.transport`` says so.
        """
        form = self.shared.transport.of(topic) if message_type is Image else ""
        source = f"{self.resolve_topic_name(topic)}/{form}" if form else topic
        monitor = self.diagnostics.input(topic, inputs or InputConfig())

        def receive(message: Any) -> None:
            if not stamped:
                monitor.arrived()
            elif not self._accept(monitor, stamp_from_msg(message.header.stamp)):
                return
            self._guarded(topic, lambda: callback(message))

        self.create_subscription(CompressedImage if form else message_type, source, receive, profile, raw=raw)

    def _accept(self, monitor: InputMonitor, stamp: float) -> bool:
        """Return whether to use a message of this stamp; report stamps from the future and a restarted source."""
        futures, restarts = monitor.drops["future"], monitor.restarts
        used = monitor.accept(stamp, self.now)
        if monitor.drops["future"] > futures:
            text = (
                f"{monitor.name}: a stamp is {-monitor.age:.1f} s ahead of this node's clock and was dropped"
            )
            self.get_logger().warning(text, throttle_duration_sec=5.0)
            self.diagnostics.notice(text, 5.0)
        if monitor.restarts > restarts:
            self.get_logger().warning(
                f"{monitor.name}: its stamps went back, so its source was started again"
            )
            self.restart_clock()
        return used

    def _guarded(self, topic: str, call: Callable[[], None]) -> None:
        """Call a message's handler; errors are counted with the topic's input and do not end the node."""
        monitor = self.diagnostics.input(topic)
        try:
            call()
        except BadMessage as error:
            monitor.drop("malformed")
            self.get_logger().warning(f"{topic}: {error}", throttle_duration_sec=5.0)
        except TransformUnavailable as error:
            monitor.drop("no_transform")
            self.get_logger().warning(f"{topic}: {error}", throttle_duration_sec=5.0)
        except Exception as error:
            monitor.drop("error")
            self.diagnostics.error(error)

    def steady_timer(self, period: float, callback: Callable[[], None]) -> Any:
        """Create a timer that also runs while the simulated clock stands."""
        return self.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def transforms(
        self, on_change: Callable[[], None] | None = None, *, newest: bool = False
    ) -> TransformListener:
        """Create a listener to /tf and /tf_static; `on_change` is called after each message.

        newest: only the newest transforms are looked up, none at a past stamp.
        """
        notify = None if on_change is None else lambda: self._guarded("/tf", on_change)
        listener = TransformListener(
            self, notify, qos.TF_NEWEST if newest else qos.TF, self._on_refused_transform
        )
        self.on_clock_restart(listener.buffer.clear)
        self.diagnostics.value("tf.refused", lambda: listener.buffer.intake.tree.problems() or "none")
        self.diagnostics.value("tf.rejected", lambda: listener.buffer.intake.rejected)
        self.diagnostics.value("tf.unheard", lambda: self._tell_unheard(listener) or "none")
        return listener

    def _tell_unheard(self, listener: TransformListener) -> str:
        """Return which publishers of /tf and /tf_static cannot be received; log each change and add a
        diagnostics notice.
        """
        text = listener.unheard()
        if text:
            self.diagnostics.notice(text, 2.0)
            if text != self._unheard:
                self.get_logger().warning(text)
        self._unheard = text
        return text

    def _on_refused_transform(self, problems: str) -> None:
        self.get_logger().warning(f"/tf: {problems}", throttle_duration_sec=5.0)

    def on_close(self, close: Callable[[], None]) -> None:
        """Register a function that is called when the node closes."""
        self._closers.append(close)

    def close(self) -> None:
        """Call the registered functions, the last first; an error in one does not stop the others."""
        while self._closers:
            try:
                self._closers.pop()()
            except Exception as error:
                self.get_logger().error(f"at the end: {error.__class__.__name__}: {error}")
