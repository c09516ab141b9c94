"""The thread on which the decision loop runs, so that the executor can always send heartbeats and stop the robot.

All work that grows with the scene, such as scoring targets and applying entities, happens on this thread. The executor
posts work and receives commands; it never waits for the thread. Full garbage collections happen while the robot
stands. The headless robot needs no thread: it calls the loop.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from lodestar.agent.errands.commands import Command, Feedback, RequestProposals, SendGoal, State, TakePassage
from lodestar.agent.loop.machine import DecisionLoop
from lodestar_ros.diagnostics import Diagnostics
from lodestar_ros.idle_collector import IdleCollector

T = TypeVar("T")
Work = Callable[[], Any]


@dataclass(frozen=True)
class LoopStatus:
    """State of the loop after its newest work. epoch_seconds: from a request to its decision. directed: one runs.

    skill: of a user's that is under way, "" = none.
    """

    state: State
    motion_allowed: bool
    epoch: int
    epoch_seconds: float
    feedback: Feedback
    directed: bool = False
    skill: str = ""


@dataclass(frozen=True)
class _StopDone:
    """Message that the loop has carried out the executor's stop."""


class LoopThread:
    """Run posted work in order and tick every `period` seconds; all methods but `run` belong to the executor.

    now: the loop's time. carry_out: called by `deliver` with each command. patience: seconds without finished work
    after which motion is refused, because nothing supervises the robot. on_error: called on the thread, which
    continues.
    """

    def __init__(
        self,
        loop: DecisionLoop,
        now: Callable[[], float],
        carry_out: Callable[[Command], None],
        period: float,
        patience: float,
        on_error: Callable[[Exception], None],
    ) -> None:
        self.held = False  # the latch as last requested
        self._loop, self._now, self._carry_out = loop, now, carry_out
        self._period, self._patience, self._on_error = period, patience, on_error
        self._inbox: dict[Any, Work] = {}
        self._outbox: deque[Callable[[], None] | Command | _StopDone] = deque()
        self._condition = threading.Condition()
        self._halts: deque[Work] = deque()
        self._closing = False
        self._stops = 0  # requested and not carried out yet
        self._finished_at = time.monotonic()
        self.status = self._read()
        self._collector = IdleCollector()
        self._thread = threading.Thread(target=self._run, name="decision_loop", daemon=True)

    def start(self) -> None:
        """Start the thread; call this after everything is connected."""
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
        """Post work. slot: an input of the loop, which replaces the waiting one of the same slot and is taken in
        before the next tick; "" = keep all.
        """
        with self._condition:
            key: Any = slot or object()
            self._inbox.pop(key, None)
            self._inbox[key] = work
            self._condition.notify()

    def ask(self, work: Callable[[], T], then: Callable[[T], None]) -> None:
        """Post work; `deliver` calls `then` with its result. work must not raise."""

        def answer() -> None:
            result = work()
            self._outbox.append(lambda: then(result))

        self.post(answer)

    def stop(self, work: Work) -> None:
        """Post work that ends a directive, ahead of all other; motion is refused until it is done."""
        self._stops += 1

        def halt() -> None:
            try:
                work()
            finally:
                self.status = self._read()
                self._outbox.append(_StopDone())

        with self._condition:
            self._halts.append(halt)
            self._condition.notify()

    def restart_clock(self) -> None:
        """End the current directive and restart time, after the clock went back."""
        self.stop(lambda: self._loop.restart_clock(self._now()))

    def hold(self, held: bool) -> None:
        """Set the latch at once, or release it."""
        self.held = held
        if held:
            self.stop(lambda: self._loop.hold(True, self._now()))
        else:
            # read the latch when the work runs: a later hold has replaced this release
            self.post(lambda: self._loop.hold(self.held, self._now()))

    def pause(self, paused: bool) -> None:
        """Let the robot stand at once and keep the directive, or go on with it."""
        if paused:
            self.stop(lambda: self._loop.pause(True, self._now()))
        else:
            self.post(lambda: self._loop.pause(False, self._now()))

    @property
    def motion_allowed(self) -> bool:
        """Return whether the robot may move: the loop allows it, no stop is pending, and the thread works."""
        return self.status.motion_allowed and not self.held and self._stops == 0 and not self.hangs

    @property
    def state(self) -> State:
        """Return the loop's state; HELD and IDLE as soon as they are requested."""
        if self.held:
            return State.HELD
        return State.IDLE if self._stops or self.status.state is State.HELD else self.status.state

    @property
    def backlog(self) -> int:
        """Return the number of waiting items."""
        return len(self._inbox)

    def describe(self, diagnostics: Diagnostics) -> None:
        """Have the loop's values told with the diagnostics."""
        diagnostics.value("state", lambda: self.status.state.name)
        diagnostics.value("constraint_state", lambda: self.status.feedback.constraint)
        diagnostics.value("epoch", lambda: self.status.epoch)
        diagnostics.value("epoch.latency_s", lambda: round(self.status.epoch_seconds, 3))
        diagnostics.value("loop.backlog", lambda: self.backlog)

    def report(self, diagnostics: Diagnostics) -> None:
        """Report the thread's state."""
        if self.hangs:
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
                elif self._stops == 0 or not isinstance(item, SendGoal | RequestProposals | TakePassage):
                    self._carry_out(item)
            except Exception as error:  # a failure must not block the others, least of all a halt
                self._on_error(error)

    # --- the thread's side ----------------------------------------------------------------------------------

    def _run(self) -> None:
        due = time.monotonic()
        while True:
            with self._condition:
                while not (self._closing or self._halts or self._inbox or time.monotonic() >= due):
                    self._condition.wait(max(due - time.monotonic(), 0.0))
                if self._closing:
                    return
                if self._halts:  # results of a halt are delivered at once
                    works = [self._halts.popleft(), self._tick]
                elif time.monotonic() >= due:
                    # after slow work a tick would otherwise find that its inputs are old
                    works = [self._advance, *(self._inbox.pop(key) for key in self._slots()), self._tick]
                else:
                    works = [self._inbox.pop(next(iter(self._inbox)))]
            began = time.monotonic()
            for work in works:
                self._do(work)
            if self._tick in works:  # posted work gets at least as much time as the ticks
                took = time.monotonic() - began
                due = began + took + max(self._period - took, took)

    def _slots(self) -> list[str]:
        return [key for key in self._inbox if isinstance(key, str)]

    def _do(self, work: Work) -> None:
        try:
            work()
        except Exception as error:
            self._on_error(error)
        self.status = self._read()
        self._finished_at = time.monotonic()

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
            directed=loop.directive is not None,
            skill=loop.skill,
        )
