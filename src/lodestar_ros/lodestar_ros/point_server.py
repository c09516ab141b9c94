"""The service by which a person points at an object on the map."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lodestar.agent.loop.machine import DecisionLoop
from lodestar.agent.loop.pointing import PointingRefused
from lodestar_interfaces.srv import PointOut
from lodestar_ros.conversions import point_from_msg
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.node import LodestarNode
from lodestar_ros.services import ServiceWorker
from lodestar_ros.workers import Refused


class PointServer:
    """Serves ``~/point_out``. The loop answers on its thread; the executor, which sends heartbeats, does not wait."""

    def __init__(
        self, node: LodestarNode, loop: DecisionLoop, thread: LoopThread, now: Callable[[], float]
    ) -> None:
        self._loop, self._now = loop, now
        ServiceWorker(node, PointOut, "~/point_out", self._answer, submit=thread.post)

    def _answer(self, request: PointOut.Request, response: PointOut.Response) -> PointOut.Response:
        """Return the meaning of a click: an answer to a question, or a correction. Runs on the decision
        loop's thread; raises Refused.
        """
        point: np.ndarray = point_from_msg(request.point)
        try:
            pointed = self._loop.point_out(point, self._now())
        except PointingRefused as refusal:
            raise Refused(int(refusal.code), str(refusal)) from refusal
        response.question_id, response.choice = pointed.question_id, pointed.choice
        response.entity_id, response.correction = pointed.entity_id, pointed.correction
        response.report = pointed.report
        return response
