"""Tests of the generic expert node, over DDS."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from waiting import wait_for

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from nav_msgs.msg import OccupancyGrid
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, RejectionReason, Thinking
from lodestar.experts.registry import registered
from lodestar.experts.specs import ExpertSpec
from lodestar.floors.records import Building, Floor
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.grammar import parse_directive
from lodestar_interfaces.action import ProposeGoal
from lodestar_ros import qos
from lodestar_ros.conversions import grid_to_msg
from lodestar_ros.conversions_agent import answer_from_result, request_to_goal
from lodestar_ros.nodes.expert_node import ExpertNode
from lodestar_ros.parameters import ParameterError
from lodestar_ros.workers import Refused

pytestmark = pytest.mark.ros
LIMIT = 60.0  # s that an expert may think
PONDERS = 3.0  # s that one thinks here, in which it is asked several times also on a busy machine


@dataclass(frozen=True)
class AheadConfig:
    distance: float = 1.0  # metres; chosen


class Ahead:
    """Test expert that proposes a place ahead of the robot and reports the grid's size."""

    name = "ahead"

    def __init__(self, config: AheadConfig) -> None:
        self._config, self.grid, self.scene = config, None, None

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        self.grid = grid

    def set_scene(self, scene) -> None:
        self.scene = scene

    def propose(self, request: ProposalRequest) -> Proposal | Rejection:
        if self.grid is None or self.scene is None:
            return Rejection(self.name, request.epoch, RejectionReason.NO_DATA, "no grid")
        goal = request.robot_pose + np.array([self._config.distance, 0.0, 0.0])
        return Proposal(self.name, request.epoch, goal, 0.5, f"{self.grid.cells.shape[0]} rows")


SPEC = ExpertSpec("ahead", AheadConfig, lambda config, tools: Ahead(config), color=(1.0, 0.0, 0.0))


@pytest.fixture
def context():
    context = Context()
    context.init()
    yield context
    context.try_shutdown()


def node_named(name: str, context: Context, **parameters: object) -> ExpertNode:
    given = [Parameter(key, value=value) for key, value in parameters.items()]
    remap = ["--ros-args", "-r", f"__node:={name}"]
    return ExpertNode(context=context, parameter_overrides=given, cli_args=remap)


def test_it_is_asked_with_its_parameters_and_the_newest_grid(context) -> None:
    with registered(SPEC):
        expert = node_named("ahead_expert", context, distance=2.5)
    driver = Node("driver", context=context)
    executor = SingleThreadedExecutor(context=context)
    for node in (expert, driver):
        executor.add_node(node)
    publisher = driver.create_publisher(OccupancyGrid, "grid", qos.LATCHED)
    grid = OccupancyGrid2D(np.zeros((40, 30), np.int8), 0.1, (-1.0, -1.0), time.time())
    publisher.publish(grid_to_msg(grid))
    client = ActionClient(driver, ProposeGoal, "ahead_expert/propose")
    request = ProposalRequest(3, time.time(), parse_directive("find the mug"), 0, np.array([1.0, 2.0, 0.0]))
    answers: list[Proposal | Rejection] = []

    def ask() -> None:
        def accepted(future) -> None:
            result = future.result().get_result_async()
            result.add_done_callback(
                lambda done: answers.append(answer_from_result(done.result().result, "ahead", 3))
            )

        client.send_goal_async(request_to_goal(request)).add_done_callback(accepted)

    asked: list[int] = []

    def proposed() -> bool:
        if client.server_is_ready() and len(asked) == len(answers):
            asked.append(1)
            ask()
        executor.spin_once(timeout_sec=0.1)
        return any(isinstance(answer, Proposal) for answer in answers)

    wait_for(proposed, lambda: f"a proposal; {answers}", every=0.0)
    expert.close()
    executor.shutdown()
    assert isinstance(answers[-1], Proposal), answers
    assert answers[-1].goal.tolist() == [3.5, 2.0, 0.0] and answers[-1].rationale == "40 rows"


class Ponders(Ahead):
    """Test expert that asks for PONDERS more, or answers at once if it may not wait."""

    name = "ponders"

    def __init__(self, config: AheadConfig) -> None:
        super().__init__(config)
        self.asked: list[bool] = []

    def propose(self, request: ProposalRequest) -> Proposal | Rejection | Thinking:
        self.asked.append(request.may_wait)
        if request.may_wait and self._config.distance > 0.0:
            return Thinking(request.stamp + PONDERS)
        return Proposal(self.name, request.epoch, request.robot_pose, 0.5, "at last", view=7.25)


PONDERING = ExpertSpec("ponders", AheadConfig, lambda config, tools: Ponders(config), color=(1.0, 0.0, 0.0))


@pytest.mark.timed
def test_one_that_thinks_is_asked_again_until_it_may_not_and_its_facts_come_in_meanwhile(context) -> None:
    with registered(PONDERING):
        expert = node_named("ponders_expert", context)
    driver = Node("driver", context=context)
    executor = SingleThreadedExecutor(context=context)
    for node in (expert, driver):
        executor.add_node(node)
    client = ActionClient(driver, ProposeGoal, "ponders_expert/propose")
    answers: list[Proposal | Rejection] = []
    wait_for(lambda: executor.spin_once(timeout_sec=0.1) or client.server_is_ready(), "the server", every=0.0)
    stamp = expert.now
    request = ProposalRequest(
        4, stamp, parse_directive("find the mug"), 0, np.zeros(3), deadline=stamp + LIMIT
    )

    def accepted(future) -> None:
        future.result().get_result_async().add_done_callback(
            lambda done: answers.append(answer_from_result(done.result().result, "ponders", 4))
        )

    client.send_goal_async(request_to_goal(request)).add_done_callback(accepted)
    free = 0

    def answered() -> bool:
        nonlocal free
        executor.spin_once(timeout_sec=0.02)
        if expert._server.lock.acquire(blocking=False):
            expert._server.lock.release()
            free += 1
        return bool(answers)

    wait_for(answered, "an answer", every=0.0)
    expert.close()
    executor.shutdown()
    (answer,) = answers
    assert isinstance(answer, Proposal) and answer.view == 7.25 and 0.5 < answer.time_taken < LIMIT / 2.0
    asked = expert._experts.here.asked
    assert len(asked) > 3 and asked[:-1] == [True] * (len(asked) - 1) and asked[-1] is False
    assert free > 3, "views find the lock free while it thinks"


def test_a_question_of_one_floor_is_not_answered_by_another_floors_expert(context) -> None:
    with registered(PONDERING):
        expert = node_named("ponders_expert", context)
    server, floors = expert._server, (Floor(1, 0, 0.0), Floor(2, 1, 3.0))
    server._building, first = Building(floors, active=1), expert._experts.here
    request = ProposalRequest(
        4, expert.now, parse_directive("find the mug"), 0, np.zeros(3), expert.now + 60.0
    )

    def climb_once_asked() -> None:
        wait_for(lambda: first.asked, "the question")
        server._building = Building(floors, active=2, since=expert.now)

    climb = threading.Thread(target=climb_once_asked, daemon=True)
    climb.start()
    with pytest.raises(Refused, match="another floor"):
        server._answered(SimpleNamespace(cancel_requested=False, age=0.0), request)
    climb.join()
    assert first.asked and expert._experts.here is not first and not expert._experts.here.asked
    expert.close()


def test_a_name_that_no_expert_has_is_refused_and_the_names_that_there_are_are_told(context) -> None:
    with pytest.raises(ParameterError, match=r"no expert 'ahead_expert'.*frontier"):
        node_named("ahead_expert", context)


def test_a_parameter_that_it_does_not_have_is_refused(context) -> None:
    from lodestar_ros.parameters import reject_unknown

    with registered(SPEC):
        expert = node_named("ahead_expert", context, distanze=2.5)
    with pytest.raises(ParameterError, match="distance"):
        reject_unknown(expert)
    expert.close()
