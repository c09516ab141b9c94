"""Asynchronous client of `scene_dictionary/amend`, by which the world model changes the scene."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lodestar.scene.records import Refusal
from lodestar.worldmodel.amendments import Amendment
from lodestar.worldmodel.world_model import Reply
from lodestar_interfaces.srv import AmendScene
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_world import amendment_to_msg, amendments_from_msg
from lodestar_ros.node import LodestarNode

PERIOD = 0.05  # s of real time between two checks of the queue


@dataclass
class _Asked:
    amendments: Sequence[Amendment]
    answered: Callable[[Reply], None]
    since: float  # monotonic time, s
    future: Any = None


class RemoteScene:
    """Sends amendments to the scene dictionary in order, one request at a time.

    `amend` may be called from any thread; `run` calls `answered` on its thread. A request
    that takes longer than `patience` seconds, or finds no scene dictionary, is answered as unavailable.
    """

    def __init__(
        self, node: LodestarNode, run: Callable[[Callable[[], None]], None], patience: float
    ) -> None:
        self._run, self._patience = run, patience
        self._client = node.create_client(AmendScene, "amend")
        self._asked: deque[_Asked] = deque()
        node.steady_timer(PERIOD, self._work)

    def amend(self, amendments: Sequence[Amendment], answered: Callable[[Reply], None]) -> None:
        """Queue amendments; `answered` is called once with the reply, later."""
        self._asked.append(_Asked(amendments, answered, time.monotonic()))

    def _work(self) -> None:
        """Send the first request of the queue, or give it up. Runs on the executor."""
        if not self._asked:
            return
        first = self._asked[0]
        if time.monotonic() - first.since > self._patience:
            self._end(first, Reply(problem=Refusal.UNAVAILABLE, why="the scene dictionary does not answer"))
        elif first.future is None and self._client.service_is_ready():
            messages = [amendment_to_msg(amendment) for amendment in first.amendments]
            first.future = self._client.call_async(AmendScene.Request(amendments=messages))
            first.future.add_done_callback(lambda done: self._on_answer(first, done))

    def _on_answer(self, asked: _Asked, future: Any) -> None:
        if not self._asked or self._asked[0] is not asked:
            return  # the answer came too late
        if future.exception() is not None:
            self._end(asked, Reply(problem=Refusal.UNAVAILABLE, why=str(future.exception())))
            return
        response = future.result()
        if response.error_code:
            known = (one for one in Refusal if one.value == response.error_code)
            problem = next(known, Refusal.UNAVAILABLE)
            self._end(asked, Reply(problem=problem, why=response.error_msg))
            return
        try:
            self._end(asked, Reply(amendments_from_msg(response.inverse)))
        except BadMessage:
            self._end(asked, Reply())  # applied, but the answer is from a scene dictionary of another version

    def _end(self, asked: _Asked, reply: Reply) -> None:
        self._asked.remove(asked)
        for later in self._asked:
            later.since = time.monotonic()  # the patience for the next request begins now
        self._run(lambda: asked.answered(reply))
