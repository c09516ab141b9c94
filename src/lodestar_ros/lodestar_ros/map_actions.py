"""Save, load and export as actions: one table of error codes, and calls from one node's worker to another node."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node

from lodestar.storage.archive import ForeignFile, OtherVersion
from lodestar.storage.snapshot import BadFolder
from lodestar_interfaces.action import SaveMap
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import Job, action

Codes = SaveMap.Result  # LoadMap and ExportMap have the same ones
POLL = 0.02  # s
SETTLING = 10.0  # s after a node's start, in which others that are up may still have to be discovered


class MapError(Exception):
    """A map cannot be saved, loaded or exported, for the reason of `code`."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def code_of(error: Exception, writes: bool) -> int:
    """The error code of whatever went wrong with a file."""
    if isinstance(error, MapError):
        return error.code
    if isinstance(error, (BadFolder, FileNotFoundError, IsADirectoryError, NotADirectoryError)):
        return Codes.BAD_PATH
    if isinstance(error, OtherVersion):
        return Codes.WRONG_VERSION
    if isinstance(error, (ForeignFile, ValueError)):
        return Codes.BAD_FORMAT
    if isinstance(error, OSError):
        return Codes.WRITE_FAILED if writes else Codes.READ_FAILED
    return Codes.UNKNOWN


def serve(node: LodestarNode, action_type: Any, name: str, work: Callable[[Job], dict[str, Any]]) -> None:
    """Serve an action on a worker of its own. work(job) returns fields of the result; what it raises becomes a code."""
    writes = action_type.__name__ != "LoadMap"

    def execute(job: Job) -> Any:
        began = time.monotonic()
        try:
            fields = work(job)
        except Exception as error:
            node.get_logger().error(f"{name}: {error.__class__.__name__}: {error}")
            return action_type.Result(error_code=code_of(error, writes), error_msg=str(error) or repr(error))
        node.get_logger().info(f"{name}: done in {time.monotonic() - began:.1f} s")
        return action_type.Result(**fields)

    worker = action(
        node, action_type, name, execute,
        fail=lambda error: action_type.Result(error_code=Codes.UNKNOWN, error_msg=str(error)),
        cancelled=lambda: action_type.Result(error_code=Codes.CANCELLED, error_msg="cancelled"),
        capacity=1,
    )  # fmt: skip
    node.on_close(worker.close)


class RemoteAction:
    """An action of another node, called from a worker that is busy with a job of its own."""

    def __init__(self, node: Node, action_type: Any, name: str) -> None:
        self.name = name
        self._type = action_type
        self._client = ActionClient(node, action_type, name)
        self._made = time.monotonic()

    def is_there(self, job: Job, patience: float = 0.0) -> bool:
        """Whether somebody serves it. Just after the start, and for `patience` seconds, it is waited for: a server that
        is up is discovered late.
        """
        end = max(self._made + SETTLING, time.monotonic() + patience)
        while not self._client.server_is_ready():
            if job.cancel_requested or time.monotonic() > end:
                return False
            time.sleep(POLL)
        return True

    def call(self, job: Job, timeout: float, *, undoes: bool = False, **goal: Any) -> Any:
        """The result of a goal with these fields. Raises MapError where it fails, is refused or takes too long.

        undoes: it is waited for although the job was cancelled.
        """
        done, answer = threading.Event(), []

        def finish(result: Any) -> None:
            answer.append(result)
            done.set()

        def accepted(future: Any) -> None:
            handle = future.result()
            if not handle.accepted:
                finish(MapError(Codes.BUSY, f"{self.name} is busy"))
                return
            handle.get_result_async().add_done_callback(lambda found: finish(found.result().result))

        job.post(lambda: self._client.send_goal_async(self._type.Goal(**goal)).add_done_callback(accepted))
        end = time.monotonic() + timeout
        while not done.wait(POLL):
            if job.cancel_requested and not undoes:
                raise MapError(Codes.CANCELLED, "cancelled")
            if time.monotonic() > end:
                raise MapError(Codes.UNKNOWN, f"{self.name} did not answer within {timeout:.0f} s")
        result = answer[0]
        if isinstance(result, MapError):
            raise result
        if result.error_code != 0:
            raise MapError(result.error_code, f"{self.name}: {result.error_msg}")
        return result
