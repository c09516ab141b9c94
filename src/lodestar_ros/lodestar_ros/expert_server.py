"""The `propose` action of an expert, which runs on a worker thread with the newest facts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nav_msgs.msg import OccupancyGrid

from lodestar.experts.protocol import GridReader, Proposal, ProposalRequest, Rejection, Thinking
from lodestar.floors.per_floor import PerFloor
from lodestar.floors.records import Building
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar_interfaces.action import ProposeGoal
from lodestar_ros import qos
from lodestar_ros.building_input import BuildingInput
from lodestar_ros.conversions import BadMessage, grid_from_msg
from lodestar_ros.conversions_agent import answer_to_result, request_from_goal
from lodestar_ros.keep_out import KeepOutInput
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import ActionWorker, Job, Refused

_Codes = ProposeGoal.Result
_REPLACED = "a newer question took its place"
_OTHER_FLOOR = "the robot has come to another floor meanwhile"
_AGAIN = 0.05  # s of real time between two calls of an expert whose answer is pending


class ExpertServer:
    """Serves ``~/propose`` with the expert of the robot's floor.

    Subscribes: ``grid``, ``costmap_filter_info`` and its mask. floors: the node's input of floors. refresh():
    called on the worker before each request, to update the expert's data; other threads that update it hold
    `lock`. after(): called on the worker after each answer.
    """

    def __init__(
        self,
        node: LodestarNode,
        experts: PerFloor[Any],
        floors: BuildingInput,
        refresh: Callable[[], None] | None = None,
        after: Callable[[], None] | None = None,
    ) -> None:
        self.lock = threading.Lock()
        self.latency = 0.0
        self._node, self._experts = node, experts
        self._building = floors.newest
        floors.tell(self._take_building)
        self._refresh, self._after = refresh, after
        self._grid: OccupancyGrid2D | None = None
        self._given: OccupancyGrid2D | None = None
        self._keep_out = KeepOutInput(node)
        node.listen(OccupancyGrid, "grid", self._on_grid, qos.LATCHED)
        ActionWorker(
            node,
            ProposeGoal,
            "~/propose",
            self._propose,
            {BadMessage: _Codes.BAD_REQUEST},
            cancelled=_REPLACED,
        )
        node.diagnostics.value("propose.latency_s", lambda: self.latency)

    def _on_grid(self, message: OccupancyGrid) -> None:
        grid = grid_from_msg(message)
        if not self._building.outdates(grid.stamp):
            self._grid = grid

    def _take_building(self, building: Building) -> None:
        """Store the floors; forget the grid if it belongs to another floor."""
        grid, since = self._grid, building.since
        if grid is not None and self._building.since != since and grid.stamp < since:
            self._grid = None
        self._building = building

    def _propose(self, job: Job) -> ProposeGoal.Result:
        """Return the result of a request. Runs on the worker; raises Refused."""
        request = request_from_goal(job.request)
        if self._node.now > request.deadline:
            raise Refused(_Codes.DEADLINE, "the deadline had passed before the question was read")
        answer = self._answered(job, request)
        self.latency = job.age
        if job.cancel_requested:
            raise Refused(_Codes.CANCELLED, _REPLACED)
        if isinstance(answer, Proposal):
            answer = replace(answer, time_taken=job.age)
        if self._after is not None:
            self._after()
        return answer_to_result(answer)

    def _answered(self, job: Job, request: ProposalRequest) -> Proposal | Rejection:
        """Return the expert's answer; while it is pending, release the lock so that camera views can be
        added, and ask again. Raises Refused.
        """
        asked = None
        while True:
            with self.lock:
                self.update()
                if asked is not None and asked is not self._experts.here:
                    raise Refused(_Codes.CANCELLED, _OTHER_FLOOR)
                asked = self._experts.here
                if self._refresh is not None:
                    self._refresh()
                answer = self._experts.here.propose(request)
            if not isinstance(answer, Thinking):
                return answer
            if job.cancel_requested:
                raise Refused(_Codes.CANCELLED, _REPLACED)
            # check both clocks, because the node's clock may stand still
            over = self._node.now >= answer.until or job.age >= answer.until - request.stamp
            request = replace(request, may_wait=not over)
            if not over:
                time.sleep(_AGAIN)

    def update(self) -> bool:
        """Select the expert of the robot's floor and give it the newest grid. Requires the lock.

        Returns whether the robot is on a floor: observations between two floors belong to neither.
        """
        building = self._building
        if self._experts.follow(building):
            self._given = None
        if building.is_between:
            return False
        grid = self._keep_out.apply(self._grid)
        if grid is not None and grid is not self._given:
            self._given = grid
            if isinstance(self._experts.here, GridReader):
                self._experts.here.set_grid(grid)
        return True
