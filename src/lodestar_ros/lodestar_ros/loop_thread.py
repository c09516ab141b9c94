"""The thread of the decision loop, so that the executor can always send heartbeats and stop the robot.

All work that grows with the scene, such as scoring targets and applying entities, happens on this thread. The
executor posts work and receives commands; it never waits for the thread. Full garbage collections happen
while the robot stands. The headless robot needs no thread: it calls the loop directly.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from lodestar.agent.errands.commands import Begin, Command, Feedback, State
from lodestar.agent.loop.machine import DecisionLoop
from lodestar_ros.diagnostics import Diagnostics
from lodestar_ros.idle_collector import IdleCollector
from lodestar_ros.motion.authority import UNTOLD, Standing

GATE_PATIENCE = 10.0  # s of real time in which the motion gate is discovered, also on a busy machine
MOST_WAITING = 2000  # waiting items of work without a slot; with more, the loop is too late to supervise

T = TypeVar("T")
Work = Callable[[], Any]


@dataclass(frozen=True)
class LoopStatus:
    """State of the loop after its newest work. epoch_seconds: from the newest request to its decision.

    goal_under_way: a goal of the directive is carried out. skill: name of the user's skill under way, "" = none.
    """

    state: State
    motion_allowed: bool
    epoch: int
    epoch_seconds: float
    feedback: Feedback
    goal_under_way: bool = False
    skill: str = ""


@dataclass(frozen=True)
class _StopDone:
    """Marker in the outbox: the loop has executed a stop of the executor."""


class LoopThread:
    """Runs posted work in order and ticks the loop every `period` seconds. Call all methods on the executor.

    The loop is held or paused by the newest records given to `follow`; the thread reads only these, so that a
    hold and its release cannot be applied in the wrong order. now: the loop's time. carry_out: called by
    `deliver` with each command. wake: called on any thread; makes the executor call `deliver` soon. patience:
    seconds without finished work after which motion is refused, because nothing supervises the robot.
    on_error: called on the thread with an error; the thread continues.
    """

    def __init__(
        self,
        loop: DecisionLoop,
        now: Callable[[], float],
        carry_out: Callable[[Command], None],
        wake: Callable[[], object],
        period: float,
        patience: float,
        on_error: Callable[[Exception], None],
    ) -> None:
        self.told = UNTOLD  # newest standing holds and pauses
        self.follows = UNTOLD.number  # number of the newest record that the loop has carried out
        self._last_hold = UNTOLD.last_hold  # `last_hold` of the records that the loop applied last
        self._reads_told = False  # `_follow` is queued, and will read `told`
        self._loop, self._now, self._carry_out, self._wake = loop, now, carry_out, wake
        self._period, self._patience, self._on_error = period, patience, on_error
        self._inbox: dict[Any, Work] = {}
        self._outbox: deque[Callable[[], None] | Command | _StopDone] = deque()
        self._condition = threading.Condition()
        self._halts: deque[Work] = deque()
        self._failed: list[Work] = []  # halts that are tried again
        self._closing = False
        self._lost = 0  # number of dropped items of work
        self._stops = 0  # number of requested stops that the loop has not executed
        self._began = self._finished_at = time.monotonic()
        self.status = self._read()
        self._collector = IdleCollector()
        self._thread = threading.Thread(target=self._run, name="decision_loop", daemon=True)

    def start(self) -> None:
        """Start the thread, after all inputs are connected; the loop is held until the gate has published."""
        self._began = time.monotonic()
        self.follow(self.told)
        self._thread.start()

    def close(self, timeout: float = 2.0) -> None:
        """End the thread after its current work."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        if self._thread.is_alive():
            self._thread.join(timeout)
        self._collector.close()

    # --- the executor's side --------------------------------------------------------------------------------

    def post(self, work: Work, slot: str = "") -> None:
        """Post work.

        slot: name of an input; newer work replaces waiting work of the same slot, and the work of all slots
        runs before the next tick. "" = no slot: work is kept, but dropped and reported beyond MOST_WAITING.
        """
        self._take(work, slot)

    def _take(self, work: Work, slot: str = "") -> bool:
        """Post work as `post` does; return False if it was dropped."""
        with self._condition:
            if not slot and self.overflows:
                self._lost += 1
                return False
            key: Any = slot or object()
            self._inbox.pop(key, None)
            self._inbox[key] = work
            self._condition.notify()
        return True

    def ask(self, work: Callable[[], T], then: Callable[[T], None], instead: T) -> None:
        """Post work that raises no error; `deliver` calls `then` with its result, or `instead` if dropped."""

        def answer() -> None:
            result = work()
            self._outbox.append(lambda: then(result))

        if not self._take(answer):
            self._outbox.append(lambda: then(instead))
            self._wake()

    def stop(self, work: Work) -> None:
        """Post work that ends a directive, ahead of all other work; motion is refused until it is done."""
        self._stops += 1

        def halt() -> None:
            try:
                work()
            except Exception:
                if halt not in self._failed:  # again at the next tick: until it is done the robot stands
                    self._failed.append(halt)
                raise
            if halt in self._failed:
                self._failed.remove(halt)
            self.status = self._read()
            self._outbox.append(_StopDone())

        with self._condition:
            self._halts.append(halt)
            self._condition.notify()

    def restart_clock(self) -> None:
        """End the current directive and reset the loop's time, after the clock went back."""
        with self._condition:  # inputs with the old, larger stamps would hide all later ones
            for slot in ("pose", "correction", "motion", "sight", "look"):
                self._inbox.pop(slot, None)
        self.stop(lambda: self._loop.restart_clock(self._now()))

    def follow(self, told: Standing) -> None:
        """Hold, pause or release by the gate's newest records; no motion until the loop has applied them."""
        self.told = told
        if not self._reads_told:
            self._reads_told = True
            self.stop(self._follow)

    @property
    def knows_holds(self) -> bool:
        """Return whether the gate has published its records, or was not found within `GATE_PATIENCE`."""
        return self.told.is_told or time.monotonic() - self._began > GATE_PATIENCE

    @property
    def held(self) -> bool:
        """Return whether a hold stands, by the gate's newest records."""
        return self.told.hold is not None

    @property
    def motion_allowed(self) -> bool:
        """Return whether the robot may move: loop and standing records allow it, and the thread keeps up."""
        stops = self.told.records or self._stops or self.hangs or self.overflows
        return self.status.motion_allowed and not stops

    @property
    def state(self) -> State:
        """Return the loop's state; HELD and IDLE as soon as they are requested."""
        if self.held:
            return State.HELD
        return State.IDLE if self._stops or self.status.state is State.HELD else self.status.state

    @property
    def overflows(self) -> bool:
        """Return whether at least MOST_WAITING items of work wait."""
        return len(self._inbox) >= MOST_WAITING

    @property
    def backlog(self) -> int:
        """Return the number of waiting items of work."""
        return len(self._inbox)

    def describe(self, diagnostics: Diagnostics) -> None:
        """Add the loop's values to the diagnostics."""
        diagnostics.value("state", lambda: self.status.state.name)
        diagnostics.value("constraint_state", lambda: self.status.feedback.constraint)
        diagnostics.value("epoch", lambda: self.status.epoch)
        diagnostics.value("epoch.latency_s", lambda: round(self.status.epoch_seconds, 3))
        diagnostics.value("loop.backlog", lambda: self.backlog)
        diagnostics.value("loop.dropped", lambda: self._lost)

    def report(self, diagnostics: Diagnostics) -> None:
        """Set the diagnostics' status to the thread's state."""
        if self.overflows:
            diagnostics.status(
                f"{self.backlog} works wait for the decision loop: motion is refused", ok=False
            )
        elif self._failed:
            diagnostics.status("a stop fails and is tried again: motion is refused", ok=False)
        elif self.hangs:
            silent = time.monotonic() - self._finished_at
            diagnostics.status(
                f"the decision loop has not answered for {silent:.1f} s: motion is refused", ok=False
            )
        else:
            diagnostics.status(self.state.name.lower())

    @property
    def hangs(self) -> bool:
        """Return whether the thread has finished no work for longer than the patience."""
        return time.monotonic() - self._finished_at > self._patience

    def deliver(self) -> None:
        """Run the thread's callbacks and carry out its commands. No motion starts while a stop is pending."""
        while self._outbox:
            item = self._outbox.popleft()
            try:
                if isinstance(item, _StopDone):
                    self._stops -= 1
                elif callable(item):
                    item()
                elif self._stops == 0 or not isinstance(item, Begin):
                    self._carry_out(item)
            except Exception as error:  # a failure must not block the others, least of all a halt
                self._on_error(error)

    # --- the thread's side ----------------------------------------------------------------------------------

    def _run(self) -> None:
        due = time.monotonic()
        while True:
            with self._condition:
                # while a stop is to be tried again there is no other work
                while not (self._closing or self._halts or time.monotonic() >= due):
                    if self._inbox and not self._failed:
                        break
                    self._condition.wait(max(due - time.monotonic(), 0.0))
                if self._closing:
                    return
                if self._halts:  # the tick after it delivers the results of the halt at once
                    works = [self._halts.popleft(), self._tick]
                elif self._failed:
                    works = [*self._failed, self._tick]
                elif time.monotonic() >= due:
                    # advance first: after slow work the tick would find its inputs too old
                    works = [self._advance, *(self._inbox.pop(key) for key in self._slots()), self._tick]
                else:
                    works = [self._inbox.pop(next(iter(self._inbox)))]
            began = time.monotonic()
            for work in works:
                self._do(work)
            if self._tick in works:  # posted work gets at least as much time as the ticks
                took = time.monotonic() - began
                due = began + took + max(self._period - took, took)

    def _follow(self) -> None:
        """Apply the newest records to the loop. A hold ends the directive even if it was released already."""
        self._reads_told = False  # before `told` is read: newer records are applied by another call
        told, now = self.told, self._now()
        if told.last_hold != self._last_hold:
            self._loop.hold(True, now)
        self._loop.hold(told.hold is not None, now, told.hold.advice if told.hold else "")
        self._loop.pause(told.pause is not None, now, told.pause.advice if told.pause else "")
        self._last_hold = told.last_hold
        self._outbox.append(lambda: setattr(self, "follows", told.number))

    def _slots(self) -> list[str]:
        return [key for key in self._inbox if isinstance(key, str)]

    def _do(self, work: Work) -> None:
        try:
            work()
        except Exception as error:
            self._on_error(error)
        self.status = self._read()
        self._finished_at = time.monotonic()
        if self._outbox:
            self._wake()

    def _advance(self) -> None:
        self._loop.advance(self._now())

    def _tick(self) -> None:
        self._outbox.extend(self._loop.tick(self._now()))
        if not self._loop.motion_allowed:
            self._collector.rest()

    def _read(self) -> LoopStatus:
        loop = self._loop
        return LoopStatus(
            loop.state,
            loop.motion_allowed,
            loop.epoch,
            loop.epoch_seconds,
            loop.feedback(),
            loop.goal_under_way,
            loop.skill,
        )
