"""The goal selector's services for holds and pauses, which it requests from the motion gate and obeys."""

from __future__ import annotations

from collections.abc import Callable

from lodestar_ros.directive_server import DirectiveServer
from lodestar_ros.heartbeat import HeartbeatPublisher
from lodestar_ros.loop_thread import LoopThread
from lodestar_ros.motion.authority import Kind, Standing
from lodestar_ros.motion.holds import HoldFollower
from lodestar_ros.node import LodestarNode


class StopServices:
    """Serves ``~/hold``, which ends a directive, and ``~/pause``, which keeps it, as clients of the motion gate.

    on_stop(): stops the robot at once. Neither service waits for the loop or the gate, and neither refuses a stop.
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
        self._holds = HoldFollower(node, self._follow)
        self._holds.serve(Kind.HOLD)
        self._holds.serve(Kind.PAUSE, self._skill_in_words)

    def _follow(self, standing: Standing) -> None:
        """Obey the gate's standing records: a hold ends all directives, a pause stops the robot."""
        before = self._thread.told
        self._thread.follow(standing)
        fresh = [one for one in standing.records if one.kind is Kind.HOLD and one not in before.records]
        if fresh or (before.is_told and standing.last_hold != before.last_hold):
            self._server.withdraw()
        if standing.records:
            self._on_stop()
        self._heartbeat.beat()

    def _skill_in_words(self) -> str:
        skill = self._thread.status.skill
        return f"; {skill} was stopped, and begins anew then" if skill else ""
