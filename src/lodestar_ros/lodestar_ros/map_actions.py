"""Save, load and export as actions: error codes, the parts of single nodes, and calls from one node to another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from rclpy.action import ActionClient
from rclpy.node import Node

from lodestar.storage.archive import ForeignFile, OtherVersion
from lodestar.storage.replacement import Replacement, replace_all, told
from lodestar.storage.saved_map import MapPart
from lodestar.storage.snapshot import BadFolder
from lodestar_interfaces.action import LoadMap, SaveMap
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import ActionWorker, Job, LatestWorker, Refused

T = TypeVar("T")
Codes = SaveMap.Result  # LoadMap and ExportMap have the same codes
TIMEOUT = 120.0  # s to save or load another node's part
PATIENCE = 3.0  # s to wait for a required node
POLL = 0.02  # s between two checks of a call
SETTLING = 10.0  # s after a node's start, in which running nodes may not be discovered yet
PULSE = 0.5  # s between two feedback messages of a busy server
SILENCE = 4.0  # s without feedback, after which a server has died or hangs
# s that a prepared part waits for its leader's next stage; each other part of the map takes at most `TIMEOUT`
HELD = 5 * TIMEOUT
RETURN = 20.0  # s for a silent server to return: it is restarted after 0.5 s


#: Error codes of file errors, except those of the disk.
_ERRORS: dict[type[Exception], int] = {
    FileExistsError: Codes.FILE_EXISTS,
    BadFolder: Codes.BAD_PATH,
    FileNotFoundError: Codes.BAD_PATH,
    IsADirectoryError: Codes.BAD_PATH,
    NotADirectoryError: Codes.BAD_PATH,
    OtherVersion: Codes.WRONG_VERSION,
    ForeignFile: Codes.BAD_FORMAT,
    ValueError: Codes.BAD_FORMAT,
}


def serve(node: LodestarNode, action_type: Any, name: str, work: Callable[[Job], dict[str, Any]]) -> None:
    """Serve an action on its own worker. work(job) returns fields of the result; its errors become error codes.

    During the work, feedback is published twice a second, which shows the client that the server is alive.
    """
    disk = Codes.READ_FAILED if action_type is LoadMap else Codes.WRITE_FAILED
    pulse = _Pulse(node, action_type)

    def execute(job: Job) -> Any:
        began = time.monotonic()
        try:
            with pulse.of(job):
                fields = work(job)
        except Exception as error:
            node.get_logger().error(f"{name}: {error.__class__.__name__}: {told(error)}")
            raise
        node.get_logger().info(f"{name}: done in {time.monotonic() - began:.1f} s")
        return action_type.Result(**fields)

    ActionWorker(node, action_type, name, execute, {**_ERRORS, OSError: disk}, capacity=1)


class _Pulse:
    """Repeats the feedback of the current job of an action, as a sign of life."""

    def __init__(self, node: LodestarNode, action_type: Any) -> None:
        self._type = action_type
        self._job: Job | None = None
        node.steady_timer(PULSE, self._beat)

    @contextmanager
    def of(self, job: Job) -> Iterator[None]:
        """Publish the job's feedback repeatedly during a `with` block."""
        self._job = job
        try:
            yield
        finally:
            self._job = None

    def _beat(self) -> None:
        job = self._job
        if job is not None:
            job.say_again(self._type.Feedback())


class RemoteAction:
    """An action of another node, called on the worker of a job.

    owner: name of the node that serves it, for messages.
    """

    def __init__(self, node: Node, action_type: Any, name: str, owner: str) -> None:
        self.owner = owner
        self._node, self._name, self._type = node, name, action_type
        self._client = ActionClient(node, action_type, name)
        self._made = time.monotonic()

    def is_there(self, job: Job, patience: float = 0.0) -> bool:
        """Return whether a server exists; wait shortly after the node's start, and for `patience` seconds.

        The wait is needed because a running server may be discovered late.
        """
        end = max(self._made + SETTLING, time.monotonic() + patience)
        while not self._client.server_is_ready():
            if job.cancel_requested or time.monotonic() > end:
                return False
            time.sleep(POLL)
        return True

    def call(self, job: Job, timeout: float, *, undoes: bool = False, **goal: Any) -> Any:
        """Return the result of a goal with these fields.

        A silent server has died or hangs: the goal is sent again until the server returns, for `RETURN`
        seconds at most.
        Raises Refused if the goal fails, is rejected or takes too long, with NODE_LOST if the server stays silent.
        undoes: wait for the result even if the job was cancelled.
        """
        end, lost = time.monotonic() + timeout, 0.0
        while True:
            attempt = _Attempt(self._client, self._type.Goal(**goal), job)
            while not attempt.done.wait(POLL) and attempt.silent < SILENCE:
                if job.cancel_requested and not undoes:
                    attempt.give_up()
                    raise Refused(Codes.CANCELLED, "cancelled")
                if time.monotonic() > end:
                    attempt.give_up()
                    raise Refused(Codes.UNKNOWN, f"{self.owner} took longer than {timeout:.0f} s")
            if attempt.done.is_set():
                return self._checked(attempt)
            attempt.give_up()
            lost = lost or time.monotonic() - SILENCE
            silent = time.monotonic() - lost
            if silent > RETURN:
                raise Refused(
                    Codes.NODE_LOST,
                    f"{self.owner} has said nothing for {silent:.0f} s and did not come back: it died or hangs. "
                    f"{'' if undoes else 'Nothing was changed; '}its log says more. Try again when it is up",
                )
            self._node.get_logger().warning(f"{self._name}: {self.owner} fell silent; it is asked again")

    def _checked(self, attempt: _Attempt) -> Any:
        if attempt.refused:
            raise Refused(Codes.BUSY, f"{self.owner} is busy with another map")
        if attempt.result.error_code != 0:
            raise Refused(attempt.result.error_code, f"{self.owner}: {attempt.result.error_msg}")
        return attempt.result


class _Attempt:
    """One goal sent to a server that may die."""

    def __init__(self, client: ActionClient, goal: Any, job: Job) -> None:
        self.done = threading.Event()
        self.refused = False
        self.result: Any = None
        self._client, self._goal, self._job = client, goal, job
        self._handle: Any = None
        self._heard = time.monotonic()
        job.post(self._send)

    @property
    def silent(self) -> float:
        """Return the seconds since the server's last message."""
        return time.monotonic() - self._heard

    def give_up(self) -> None:
        """Cancel the goal, in case the server is alive."""
        handle = self._handle
        if handle is not None:
            self._job.post(handle.cancel_goal_async)

    def _send(self) -> None:
        sent = self._client.send_goal_async(self._goal, feedback_callback=self._on_feedback)
        sent.add_done_callback(self._on_answer)

    def _on_feedback(self, _message: Any) -> None:
        self._heard = time.monotonic()

    def _on_answer(self, future: Any) -> None:
        handle = future.result()
        self._heard = time.monotonic()
        if handle.accepted:
            self._handle = handle
            handle.get_result_async().add_done_callback(self._on_result)
        else:
            self.refused = True
            self.done.set()

    def _on_result(self, future: Any) -> None:
        self.result = future.result().result
        self.done.set()


class PartServer:
    """Serves ``~/save`` and ``~/load`` of a node's own part of the map.

    A load runs in the stages of LoadMap.action. leader: the node that loads the whole map. count(): returns
    the number of entities or keyframes in the part.
    """

    def __init__(self, node: LodestarNode, part: MapPart, count: Callable[[], int] = lambda: 0) -> None:
        self._name, self._part, self._count = node.get_name(), part, count
        self._held: Replacement | None = None  # the load between PREPARE and FINISH or UNDO
        self._stage = LoadMap.Goal.WHOLE  # newest finished stage of a load
        self._asked = 0.0  # real time of the newest stage
        self._lock = threading.Lock()  # guards the three above
        tidier: LatestWorker = LatestWorker("held_part", lambda _: self.end_unasked(), node.diagnostics.error)
        node.on_close(tidier.close)
        node.on_close(self.close)
        node.steady_timer(HELD / 10, lambda: tidier.submit(None))
        serve(node, SaveMap, "~/save", self._save)
        serve(node, LoadMap, "~/load", self._load)

    def _save(self, job: Job) -> dict[str, Any]:
        """Save the part to the request's path; return fields of the result. Runs on the action's worker."""
        path = path_of(job)
        self._part.save(path)
        files = [path] if path.is_file() else path.rglob("*")
        return {"bytes_written": sum(file.stat().st_size for file in files), "entity_count": self._count()}

    def _load(self, job: Job) -> dict[str, Any]:
        """Run a stage of a load; a repeated stage, whose answer was lost, changes nothing. Runs on the
        action's worker.
        """
        with self._lock:
            try:
                return self._do(job)
            finally:
                self._asked = time.monotonic()

    def end_unasked(self) -> None:
        """End a load whose leader has sent no stage for `HELD` seconds. Runs on the `held_part` worker."""
        with self._lock:
            if self._held is not None and time.monotonic() - self._asked > HELD:
                self._end_former()

    def close(self) -> None:
        """End an unfinished load, unless one of its stages is running."""
        if self._lock.acquire(blocking=False):
            try:
                self._end_former()
            finally:
                self._lock.release()

    def _do(self, job: Job) -> dict[str, Any]:
        stage, goal = job.request.stage, LoadMap.Goal
        left_out: tuple[str, ...] = ()
        if stage in (goal.WHOLE, goal.PREPARE):
            path = path_of(job)
            self._end_former()
            self._stage = goal.UNDO  # a failing stage rolls back
            if stage == goal.WHOLE:
                left_out = replace_all([(self._part.name, self._part.prepare(path))])
            else:
                prepared = self._part.prepare(path)
                left_out = next(prepared)
                self._held = prepared
        elif stage != self._stage:
            held, self._held = self._held, None
            if held is None:
                raise Refused(
                    Codes.NODE_LOST, f"{self._name} was restarted during the load; load the map again"
                )
            if stage == goal.UNDO:
                held.close()
            else:
                self._stage = goal.UNDO  # a failing stage rolls back
                next(held, None)
            self._held = held if stage == goal.SWAP else None
        self._stage = stage
        return {"left_out": list(left_out), "entity_count": self._count()}

    def _end_former(self) -> None:
        """End a load whose leader died. A part that is already in use is kept, because the robot may have moved on."""
        held, self._held = self._held, None
        if held is not None:
            next(held, None) if self._stage == LoadMap.Goal.SWAP else held.close()


def done_on(submit: Callable[[Callable[[], None]], None], work: Callable[[], T], name: str) -> T:
    """Run `work` on a node's worker and return its result, or raise its error. submit: adds work to that worker.

    Raises Refused if the worker is busy for longer than `TIMEOUT`; then the work is never run.
    """
    result: Future[T] = Future()

    def run() -> None:
        if result.set_running_or_notify_cancel():  # the caller is still waiting
            try:
                result.set_result(work())
            except Exception as error:
                result.set_exception(error)

    submit(run)
    if not wait([result], TIMEOUT).done and result.cancel():
        raise Refused(Codes.UNKNOWN, f"{name} is too busy; nothing was changed, try again")
    return result.result()


def put_on(
    submit: Callable[[Callable[[], None]], None], put: Callable[[T], Callable[[], object]], name: str
) -> Callable[[T], Callable[[], object]]:
    """Return a function that calls `put` with a component on a node's worker and returns the undo function.

    submit: queues a call for the worker. name: of the node, for messages. Both functions raise Refused
    (`done_on`).
    """

    def put_there(part: T) -> Callable[[], object]:
        take_back = done_on(submit, lambda: put(part), name)
        return lambda: done_on(submit, take_back, name)

    return put_there


def path_of(job: Job) -> Path:
    """Return the absolute path in a goal. Raises Refused without a path."""
    if not job.request.path.strip():
        raise Refused(Codes.BAD_PATH, "no path was given")
    return Path(job.request.path).expanduser().absolute()
