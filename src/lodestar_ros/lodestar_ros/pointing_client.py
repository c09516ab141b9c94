"""Client that sends a click on the map to the goal selector, and the resulting correction to the world model."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.action import ActionClient

from lodestar_interfaces.action import CorrectBelief
from lodestar_interfaces.srv import PointOut
from lodestar_ros.conversions import point_to_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.sent_goal import SentGoal

PERIOD = 0.1  # s of real time between two checks for a late answer
PATIENCE = 5.0  # s of real time in which the goal selector must answer a click

Reply = Callable[[str, np.ndarray, bool], None]


class PointingClient:
    """Requests the meaning of each click, one at a time. Executor only.

    reply(text, place, ok): called with the outcome of the click at (3,) in map. answer(question_id, choice): called if
    the click answers this question.
    """

    def __init__(
        self,
        node: LodestarNode,
        reply: Reply,
        answer: Callable[[str, int], None],
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reply, self._answer, self._steady = reply, answer, steady
        self._client = node.create_client(PointOut, "point_out")
        self._corrections = ActionClient(node, CorrectBelief, "correct")
        # the answer's future, the clicked place, the time at which the answer is late
        self._asked: tuple[Any, np.ndarray, float] | None = None
        node.steady_timer(PERIOD, self._check)

    def point(self, place: np.ndarray) -> None:
        """Request the meaning of a click at (3,) in map."""
        if self._asked is not None:
            self._reply("the last click is not answered yet; click again", place, False)
        elif not self._client.service_is_ready():
            self._reply("no goal selector is there; start the stack, then click again", place, False)
        else:
            future = self._client.call_async(PointOut.Request(point=point_to_msg(place)))
            self._asked = future, place, self._steady() + PATIENCE
            future.add_done_callback(self._answered)

    def _check(self) -> None:
        if self._asked is not None and self._steady() > self._asked[2]:
            future, place, _ = self._asked
            self._asked = None
            self._client.remove_pending_request(future)
            self._reply(
                f"the goal selector has not answered within {PATIENCE:.0f} s; is it alive? Click again",
                place,
                False,
            )

    def _answered(self, future: Any) -> None:
        if self._asked is None or self._asked[0] is not future:
            return
        _, place, _ = self._asked
        self._asked = None
        if future.exception() is not None:
            self._reply(f"the click was lost: {future.exception()}; click again", place, False)
            return
        told = future.result()
        if told.error_code:
            self._reply(told.error_msg, place, False)
            return
        self._reply(told.report, place, True)
        if told.question_id:
            self._answer(told.question_id, int(told.choice))
        elif told.correction:
            self._correct(told, place)

    def _correct(self, told: PointOut.Response, place: np.ndarray) -> None:
        """Send the click's correction to the world model; the robot moves on without waiting for it."""
        if not self._corrections.server_is_ready():
            self._reply(f"{told.report} Its label stays: no world model is there", place, False)
            return
        goal = CorrectBelief.Goal(text=told.correction, entity_id=told.entity_id)
        sent = SentGoal(self._corrections, CorrectBelief, goal, lambda message: None)

        def ended(future: Any) -> None:
            if future.exception() is not None:
                self._reply(f"{told.report} Its label may stay: {future.exception()}", place, False)
                return
            result = future.result().result
            if result.error_code:
                why = f"{told.report} Its label stays (error {result.error_code}): {result.error_msg}"
                self._reply(why, place, False)
            else:
                self._reply(f"{told.report} {result.report}", place, True)

        def accepted(answer: Any) -> None:
            if answer.exception() is None and answer.result().accepted:
                answer.result().get_result_async().add_done_callback(ended)
            else:
                self._reply(f"{told.report} Its label stays: the world model is busy", place, False)

        sent.answer.add_done_callback(accepted)
