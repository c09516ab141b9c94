"""Threads for blocking work, and callbacks to the node's executor."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from lodestar.storage.replacement import told
from lodestar_ros import executors

if TYPE_CHECKING:
    from lodestar_ros.node import LodestarNode

T = TypeVar("T")


class Mailbox:
    """Runs functions on the node's executor, posted from any thread, in the order of posting.

    Starting a timer wakes rclpy's events executor, which supports no guard conditions; other executors have those.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._letters: deque[Callable[[], None]] = deque()
        if executors.EventsExecutor is None:
            self._wake: Callable[[], object] = node.create_guard_condition(self._drain).trigger
            return

        def ring() -> None:
            timer.cancel()
            self._drain()

        timer = node.create_timer(1e-6, ring, clock=Clock(clock_type=ClockType.STEADY_TIME))
        timer.cancel()
        self._wake = timer.reset

    def post(self, function: Callable[[], None]) -> None:
        """Queue a function for the executor."""
        self._letters.append(function)
        self._wake()

    def _drain(self) -> None:
        while self._letters:
            try:
                self._letters.popleft()()
            except Exception as error:
                self._node.get_logger().error(f"{error.__class__.__name__}: {error}")


class LatestWorker(Generic[T]):
    """One thread that works on the newest item; a newer item replaces the waiting one, which is counted as dropped.

    work: called on the thread. on_error: called on the thread with an error of `work`; the worker continues.
    """

    def __init__(
        self, name: str, work: Callable[[T], object], on_error: Callable[[Exception], None] | None = None
    ) -> None:
        self.dropped = 0
        self.done = 0
        self.failed = 0
        self.latency = 0.0  # seconds that the newest item took
        self._work = work
        self._on_error = on_error
        self._slot: list[T] = []
        self._condition = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, item: T) -> None:
        """Put the item into the slot; blocks for a lock only."""
        with self._condition:
            if self._slot:
                self.dropped += 1
            self._slot = [item]
            self._condition.notify()

    @property
    def busy(self) -> bool:
        """Return whether an item waits in the slot."""
        return bool(self._slot)

    def end(self) -> None:
        """Make the thread end after its current item."""
        with self._condition:
            self._closing = True
            self._condition.notify()

    def close(self, timeout: float = 2.0) -> None:
        """Make the thread end after its current item, and wait for that."""
        self.end()
        self._thread.join(timeout)

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._slot and not self._closing:
                    self._condition.wait()
                if self._closing:
                    return
                item = self._slot.pop()
            start = time.monotonic()
            try:
                self._work(item)
                self.done += 1
            except Exception as error:
                self.failed += 1
                if self._on_error is not None:
                    self._on_error(error)
            self.latency = time.monotonic() - start


class Working(Protocol):
    """Interface of a queue whose items several threads may process."""

    def work(self) -> object:
        """Process the next waiting item, if any; on any thread."""


def work_together(
    node: LodestarNode, name: str, count: int, period: float, what: Working, cancel: Callable[[], None]
) -> None:
    """Start `count` threads that each call `what.work` every `period` seconds of real time, until the node
    ends.

    cancel(): aborts work under way; called when no thread starts new work.
    """
    threads: list[LatestWorker[None]] = [
        LatestWorker(f"{name}{i}", lambda _: what.work(), node.diagnostics.error) for i in range(count)
    ]

    def close() -> None:
        for each in threads:
            each.end()
        cancel()
        for each in threads:
            each.close()

    node.on_close(close)

    def wake() -> None:
        for each in threads:
            if not each.busy:
                each.submit(None)

    node.steady_timer(period, wake)


class Job:
    """One accepted goal of an action, passed to its worker."""

    def __init__(self, goal_handle: Any, mailbox: Mailbox) -> None:
        self.request = goal_handle.request
        self.accepted_at = time.monotonic()
        self._goal_handle = goal_handle
        self._mailbox = mailbox
        self._canceled = threading.Event()
        self._when_cancelled: Callable[[], None] = lambda: None
        self._said: Any = None  # newest feedback message

    @property
    def goal_id(self) -> bytes:
        """Return the goal's unique id, 16 bytes."""
        return bytes(self._goal_handle.goal_id.uuid)

    @property
    def cancel_requested(self) -> bool:
        """Return whether the client has cancelled the goal; the work should end soon."""
        return self._canceled.is_set()

    @property
    def age(self) -> float:
        """Return the seconds of real time since the acceptance."""
        return time.monotonic() - self.accepted_at

    def when_cancelled(self, function: Callable[[], None]) -> None:
        """Register a function to call when the goal is cancelled, or call it at once if it was; it must not block.

        It is called on the executor.
        """
        self._when_cancelled = function
        if self.cancel_requested:
            function()

    def request_cancel(self) -> None:
        self._canceled.set()
        self._when_cancelled()

    def post(self, function: Callable[[], None]) -> None:
        """Call a function on the node's executor soon; usable from any thread until the job is finished."""
        self._mailbox.post(function)

    def feedback(self, message: Any) -> None:
        """Publish feedback. Safe to call from any thread."""
        self._said = message
        self._mailbox.post(lambda: self._publish(message))

    def say_again(self, otherwise: Any) -> None:
        """Publish the newest feedback again, or `otherwise` before the first. Executor only."""
        self._publish(otherwise if self._said is None else self._said)

    def _publish(self, message: Any) -> None:
        if self._goal_handle.is_active:
            self._goal_handle.publish_feedback(message)

    def finish(self, result: Any) -> None:
        """End the goal, see `end_goal`. Safe to call from any thread."""
        self._mailbox.post(lambda: end_goal(self._goal_handle, result))


def end_goal(goal_handle: Any, result: Any) -> None:
    """End a goal: succeeded if `result.error_code` is 0, canceled if it was cancelled, else aborted. Executor only."""

    def end(handle: Any) -> Any:
        ends = handle.canceled if handle.is_cancel_requested else handle.abort
        handle.succeed() if result.error_code == 0 else ends()
        return result

    goal_handle.execute(end)


class Refused(Exception):
    """Raised to reject a request; code: error code of its result or response."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


#: Error classes -> error codes; the first matching class counts.
Codes = Mapping[type[Exception], int]


def refuse(node: Node, answer: Any, error: Exception, codes: Codes) -> Any:
    """Return a result or response with an error's code and message; an unexpected error is UNKNOWN, and logged.

    A response without error fields is left unchanged.
    """
    known = (code for kind, code in codes.items() if isinstance(error, kind))
    code, why = error.code if isinstance(error, Refused) else next(known, None), told(error)
    if code is None:
        why = f"{error.__class__.__name__}: {why}"
        node.get_logger().error(why)
    if hasattr(answer, "error_code"):
        answer.error_code, answer.error_msg = int(answer.UNKNOWN if code is None else code), why
    return answer


class ActionWorker:
    """Action server that runs its goals one after another on one thread, so that no callback blocks; ends
    with the node.

    execute(job) returns the action's Result; its error is converted to one, see `refuse`. If more than `capacity` goals
    wait, the next is rejected. cancelled: message for a goal that is cancelled while it waits. complete: fills in
    further fields of a Result with an error.
    """

    def __init__(
        self,
        node: LodestarNode,
        action_type: Any,
        name: str,
        execute: Callable[[Job], Any],
        codes: Codes = MappingProxyType({}),
        *,
        cancelled: str = "cancelled",
        capacity: int = 8,
        complete: Callable[[Any], object] = lambda result: None,
    ) -> None:
        self._node = node
        self._execute = execute
        self._codes, self._nothing, self._complete = codes, action_type.Result, complete
        self._cancelled = action_type.Result.CANCELLED, cancelled
        self._capacity = capacity
        self._mailbox = Mailbox(node)
        self._jobs: deque[Job] = deque()
        self._active: dict[bytes, Job] = {}
        self._condition = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._server = ActionServer(
            node,
            action_type,
            name,
            execute_callback=_not_called,
            callback_group=ReentrantCallbackGroup(),
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )
        self._thread.start()
        node.on_close(self.close)

    def close(self, timeout: float = 2.0) -> None:
        with self._condition:
            self._closing = True
            for job in self._active.values():
                job.request_cancel()
            self._condition.notify()
        self._thread.join(timeout)
        self._server.destroy()

    def _on_goal(self, _request: Any) -> GoalResponse:
        with self._condition:
            full = len(self._jobs) >= self._capacity
        return GoalResponse.REJECT if full else GoalResponse.ACCEPT

    def _on_accepted(self, goal_handle: Any) -> None:
        job = Job(goal_handle, self._mailbox)
        with self._condition:
            self._active[job.goal_id] = job
            self._jobs.append(job)
            self._condition.notify()

    def _on_cancel(self, goal_handle: Any) -> CancelResponse:
        job = self._active.get(bytes(goal_handle.goal_id.uuid))
        if job is not None:
            job.request_cancel()
        return CancelResponse.ACCEPT

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._jobs and not self._closing:
                    self._condition.wait()
                if self._closing:
                    return
                job = self._jobs.popleft()
            try:
                if job.cancel_requested:
                    raise Refused(*self._cancelled)
                result = self._execute(job)
            except Exception as error:
                result = refuse(self._node, self._nothing(), error, self._codes)
                self._complete(result)
            job.finish(result)
            with self._condition:
                self._active = {key: other for key, other in self._active.items() if other is not job}


def _not_called(_handle: Any) -> Any:
    raise RuntimeError("goals are concluded by their job")


class QueueWorker(Generic[T]):
    """One thread that works on every item in order, for small writes that must not be lost."""

    def __init__(
        self, name: str, work: Callable[[T], None], on_error: Callable[[Exception], None] | None = None
    ) -> None:
        self._work = work
        self._on_error = on_error
        self._items: queue.SimpleQueue = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, item: T) -> None:
        self._items.put((item,))

    @property
    def waiting(self) -> int:
        """Return the number of waiting items."""
        return self._items.qsize()

    def close(self, timeout: float = 10.0) -> None:
        """End the thread after all submitted items; a disk's sync may take seconds."""
        self._items.put(None)
        self._thread.join(timeout)

    def _run(self) -> None:
        while (entry := self._items.get()) is not None:
            try:
                self._work(entry[0])
            except Exception as error:
                if self._on_error is not None:
                    self._on_error(error)
