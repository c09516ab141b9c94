"""The service by which a person points at the map: "that is it"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rclpy.task import Future

from lodestar.agent.loop import DecisionLoop
from lodestar.agent.pointing import PointingRefused
from lodestar_interfaces.srv import PointOut
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.node import LodestarNode


class PointServer:
    """Serves ``~/point_out``. The loop answers on its thread; the executor does not wait for it."""

    def __init__(
        self, node: LodestarNode, loop: DecisionLoop, thread: LoopThread, now: Callable[[], float]
    ) -> None:
        self._node, self._loop, self._thread, self._now = node, loop, thread, now
        node.create_service(PointOut, "~/point_out", self._on_request)

    async def _on_request(self, request: PointOut.Request, response: PointOut.Response) -> PointOut.Response:
        answer: Future = Future(executor=self._node.executor)
        point = np.array([request.point.x, request.point.y, request.point.z])
        self._thread.ask(lambda: self._respond(point, response), answer.set_result)
        return await answer

    def _respond(self, point: np.ndarray, response: PointOut.Response) -> PointOut.Response:
        """On the loop's thread."""
        try:
            pointed = self._loop.point_out(point, self._now())
        except PointingRefused as refusal:
            response.error_code, response.error_msg = int(refusal.code), str(refusal)
            return response
        except Exception as error:
            response.error_code = PointOut.Response.UNKNOWN
            response.error_msg = f"{error.__class__.__name__}: {error}"
            return response
        response.question_id, response.choice = pointed.question_id, pointed.choice
        response.entity_id, response.correction = pointed.entity_id, pointed.correction
        response.report = pointed.report
        return response
