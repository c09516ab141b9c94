"""Synchronization of messages by stamp, and a queue of frames that wait for their pose."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from lodestar.timing.stamps import SAME_MOMENT
from lodestar_ros.frame_tree import Cause, TransformUnavailable

T = TypeVar("T")


class StampPairer:
    """Collects one message per name with nearly equal stamps and passes them on together.

    Messages whose stamps differ by at most `tolerance` seconds are of one moment. At most `capacity`
    incomplete moments wait; the messages of a dropped one are counted per name in `unmatched`.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        on_complete: Callable[[float, dict[str, Any]], None],
        tolerance: float = SAME_MOMENT,
        capacity: int = 5,
    ) -> None:
        self.unmatched = dict.fromkeys(names, 0)
        self._names = names
        self._on_complete = on_complete
        self._tolerance = tolerance
        self._capacity = capacity
        self._moments: OrderedDict[float, dict[str, Any]] = OrderedDict()

    def add(self, name: str, stamp: float, item: Any) -> None:
        """Add one message. The first message of a moment determines its stamp."""
        key = min(
            (
                k
                for k, parts in self._moments.items()
                if abs(k - stamp) <= self._tolerance and name not in parts
            ),
            key=lambda k: abs(k - stamp),
            default=None,
        )
        if key is None:
            key = stamp
            if key in self._moments:
                return  # a repeated message
            self._moments[key] = {}
        parts = self._moments[key]
        parts[name] = item
        if len(parts) == len(self._names):
            self._give_up(lambda other: other <= key)
            self._on_complete(key, parts)
        elif len(self._moments) > self._capacity:
            # the first to arrive, because after a jump of the clock the stamps are no guide
            first = next(iter(self._moments))
            self._give_up(lambda other: other == first)

    def restart_clock(self) -> None:
        """Drop all waiting messages."""
        self._moments.clear()

    def _give_up(self, which: Callable[[float], bool]) -> None:
        """Drop the moments whose stamps `which` selects; count messages of incomplete ones in `unmatched`."""
        for key in [key for key in self._moments if which(key)]:
            parts = self._moments.pop(key)
            if len(parts) < len(self._names):
                for name in parts:
                    self.unmatched[name] += 1


class Companions(Generic[T]):
    """Passes on every item, in order, with the companion of its stamp if that arrives in time.

    deliver(item, companion): companion is None if there is none. An item waits only if the newest companion
    is less than `gap` seconds of stamps older: until its companion or a later one arrives, `patience` seconds
    of `clock` have passed (call `expire` regularly), or more than `capacity` items wait. joined, alone: items
    with and without a companion.
    """

    def __init__(
        self,
        deliver: Callable[[T, Any], None],
        clock: Callable[[], float],
        patience: float = 0.2,
        gap: float = 1.0,
        tolerance: float = SAME_MOMENT,
        capacity: int = 3,
    ) -> None:
        self.joined = self.alone = 0
        self._deliver, self._clock = deliver, clock
        self._patience, self._gap, self._tolerance, self._capacity = patience, gap, tolerance, capacity
        self._companions: OrderedDict[float, Any] = OrderedDict()  # stamp -> companion, ascending
        self._waiting: deque[tuple[float, float, T]] = deque()  # stamp, deadline, item

    def add(self, stamp: float, item: T) -> None:
        """Add an item; stamps ascend."""
        self._waiting.append((stamp, self._clock() + self._patience, item))
        self.expire()

    def add_companion(self, stamp: float, companion: Any) -> None:
        """Add a companion; stamps ascend."""
        self._companions[stamp] = companion
        while len(self._companions) > self._capacity:
            self._companions.popitem(last=False)
        self.expire()

    def expire(self) -> None:
        """Pass on the items that need not wait any longer."""
        while self._waiting:
            stamp, deadline, item = self._waiting[0]
            near = min(self._companions, key=lambda other: abs(other - stamp), default=None)
            found = near is not None and abs(near - stamp) <= self._tolerance
            newest = next(reversed(self._companions), None)
            coming = newest is not None and stamp - self._gap < newest < stamp
            if not found and coming and len(self._waiting) <= self._capacity and self._clock() < deadline:
                return
            self._waiting.popleft()
            self.joined, self.alone = self.joined + found, self.alone + (not found)
            self._deliver(item, self._companions[near] if found and near is not None else None)

    def restart_clock(self) -> None:
        """Drop all items and companions."""
        self._waiting.clear()
        self._companions.clear()


class PoseQueue(Generic[T]):
    """Frames that wait for a short time until the transform at their stamp arrives.

    resolve(item) raises TransformUnavailable until then. A frame waits only for a transform in the future; any other
    cause, or more than `capacity` waiting frames, drops the frame through `on_drop`. Other errors of resolve also drop
    the frame and are raised to the caller of `add` or `retry`.
    """

    def __init__(
        self,
        resolve: Callable[[T], Any],
        deliver: Callable[[Any], None],
        on_drop: Callable[[TransformUnavailable], object],
        capacity: int = 3,
    ) -> None:
        self._resolve = resolve
        self._deliver = deliver
        self._on_drop = on_drop
        self._capacity = capacity
        self._waiting: deque[T] = deque()

    def add(self, item: T) -> None:
        """Deliver the frame as soon as its pose is known."""
        self._waiting.append(item)
        self.retry()

    def retry(self) -> None:
        """Deliver frames whose pose is known now; call this after transforms have arrived."""
        while self._waiting:
            try:
                resolved = self._resolve(self._waiting[0])
            except TransformUnavailable as error:
                if error.cause is Cause.FUTURE and len(self._waiting) <= self._capacity:
                    return
                self._waiting.popleft()
                self._on_drop(error)
                continue
            except Exception:
                self._waiting.popleft()  # a frame that fails must not block the others
                raise
            self._waiting.popleft()
            self._deliver(resolved)

    def restart_clock(self) -> None:
        """Drop all waiting frames."""
        self._waiting.clear()
