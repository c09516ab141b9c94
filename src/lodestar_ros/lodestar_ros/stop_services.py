"""The services by which a directive is held or paused."""

from __future__ import annotations

from collections.abc import Callable

from std_srvs.srv import SetBool

from lodestar_ros.directive_server import DirectiveServer
from lodestar_ros.heartbeat import HeartbeatPublisher
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.node import LodestarNode


class StopServices:
    """Serves ``~/hold``, which ends a directive and latches, and ``~/pause``, which keeps it.

    on_stop(): the robot is to stand at once. Neither waits for the loop, and neither refuses a stop.
    """

    def __init__(
        self,
        node: LodestarNode,
        thread: LoopThread,
        heartbeat: HeartbeatPublisher,
        server: DirectiveServer,
        on_stop: Callable[[], None],
    ) -> None:
        self._thread, self._heartbeat, self._server, self._on_stop = thread, heartbeat, server, on_stop
        node.create_service(SetBool, "~/hold", self._on_hold)
        node.create_service(SetBool, "~/pause", self._on_pause)

    def _on_hold(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._thread.hold(request.data)
        if request.data:
            self._server.withdraw()
            self._on_stop()
        self._heartbeat.beat()
        response.success = True
        response.message = "held: nothing moves until released" if request.data else "released"
        return response

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        status = self._thread.status
        response.success = status.directed
        self._thread.pause(request.data)
        if request.data:
            self._on_stop()
        skill = f"; {status.skill} was stopped, and begins anew then" if status.skill else ""
        said = f"paused: it stands until resumed{skill}" if request.data else "resumed"
        response.message = said if response.success else "no directive runs"
        return response
