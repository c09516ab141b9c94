"""Plays the inputs of a recording to the running nodes, at the pace at which they arrived."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

from lodestar_ros.bag_files import BagReader
from lodestar_ros.conversions import stamp_to_msg
from lodestar_ros.recorded_names import CLOCK, PLAYED, TF, TF_STATIC

TICK = 0.02  # s of the recording between two clock messages, where the recording has none


@dataclass(frozen=True)
class PlayConfig:
    """Rate of a replay, patience for the nodes to start, and whether the recorded map -> odom is played."""

    rate: float = 1.0  # times the pace of the recording
    patience: float = 120.0  # s of real time for the nodes to be ready, after which it is played all the same
    localises: bool = True  # the recorded map -> odom is played; false where SLAM runs on the recording

    def __post_init__(self) -> None:
        if self.rate <= 0.0 or self.patience < 0.0:
            raise ValueError("rate must be above 0, and patience not negative")


def played_topics(bag: BagReader, given: Mapping[str, str], resolved: Callable[[str], str]) -> dict[str, str]:
    """Return recorded topic -> name under which it is played.

    given: name -> recorded topic, for a bag of another recorder or with other names. resolved: full topic of a name.
    """
    own = {name: bag.names.get(name, resolved(name)) for name in PLAYED}
    known = {**own, **given}
    return {topic: name for name, topic in known.items() if topic in bag.types}


class BagPlayer:
    """Plays a recording once on its own thread. publish: called with (name, serialised message).

    static: all static transforms of the recording, to be published before the first message.
    """

    def __init__(
        self,
        bag: BagReader,
        topics: Mapping[str, str],
        config: PlayConfig,
        publish: Callable[[str, bytes], None],
    ) -> None:
        self.counts: Counter[str] = Counter()  # played messages by name
        self.late = 0.0  # s by which the latest message was published too late
        self.done = False
        self._bag, self._topics, self._config, self._publish = bag, topics, config, publish
        self._own_clock = CLOCK not in topics.values()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="player", daemon=True)

    @property
    def static(self) -> TFMessage:
        """Return the recording's static transforms, the newest of each pair of frames."""
        found = {}
        topics = [topic for topic, name in self._topics.items() if name == TF_STATIC]
        for _, _, raw in self._bag.messages(topics):
            for one in deserialize_message(raw, TFMessage).transforms:
                found[one.header.frame_id, one.child_frame_id] = one
        return TFMessage(transforms=list(found.values()))

    def first_clock(self) -> bytes:
        """Return the recording's first clock message, serialised."""
        clocks = [topic for topic, name in self._topics.items() if name == CLOCK]
        for _, _, raw in self._bag.messages(clocks):
            return raw
        return _clock(self._bag.begin)

    def start(self) -> None:
        """Start playback."""
        self._thread.start()

    def close(self) -> None:
        """Stop playback."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def _run(self) -> None:
        began, ticked = time.monotonic(), self._bag.begin
        wanted = [topic for topic, name in self._topics.items() if name != TF_STATIC]
        for topic, arrival, raw in self._bag.messages(wanted):
            while self._own_clock and ticked < arrival:
                ticked = min(arrival, ticked + int(TICK * 1e9))
                if not self._wait(began, ticked):
                    return
                self._publish(CLOCK, _clock(ticked))
            if not self._wait(began, arrival):
                return
            name = self._topics[topic]
            message = raw if self._config.localises or name != TF else without_localisation(raw)
            self._publish(name, message)
            self.counts[name] += 1
        self.done = True

    def _wait(self, began: float, moment: int) -> bool:
        """Wait for a time of the recording, in ns; return False if playback was stopped."""
        due = began + (moment - self._bag.begin) * 1e-9 / self._config.rate
        left = due - time.monotonic()
        self.late = max(self.late, -left)
        return not (self._stop.wait(left) if left > 0.0 else self._stop.is_set())


def without_localisation(raw: bytes) -> bytes:
    """Return the serialised TFMessage without map -> odom."""
    message = deserialize_message(raw, TFMessage)
    message.transforms = [one for one in message.transforms if one.child_frame_id.lstrip("/") != "odom"]
    return serialize_message(message)


def _clock(moment: int) -> bytes:
    return serialize_message(Clock(clock=stamp_to_msg(moment * 1e-9)))
