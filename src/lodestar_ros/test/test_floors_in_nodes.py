"""Tests of two floors with objects at the same x, y: scene dictionary, expert and selector's scene, over DDS."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

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
from std_msgs.msg import String

from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection
from lodestar.experts.registry import registered
from lodestar.experts.specs import ExpertSpec
from lodestar.floors.records import UNKNOWN, Building, Floor
from lodestar.grid.occupancy import FREE, OCCUPIED, OccupancyGrid2D
from lodestar.language.grammar import parse_directive
from lodestar.mapping.instances.records import CaptionVote, Instance, InstanceDelta
from lodestar_interfaces import msg
from lodestar_interfaces.action import ProposeGoal
from lodestar_ros import qos
from lodestar_ros.building_input import text_of
from lodestar_ros.conversions import grid_to_msg
from lodestar_ros.conversions_agent import answer_from_result, request_to_goal
from lodestar_ros.conversions_scene import instances_to_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.nodes.expert_node import ExpertNode
from lodestar_ros.nodes.scene_dictionary_node import SceneDictionaryNode
from lodestar_ros.selector_inputs import GridInput, SelectorScene

pytestmark = pytest.mark.ros
LIMIT = 60.0
FIRST, SECOND = Floor(1, 0, 0.0, "1"), Floor(2, 1, 3.0, "2")
TOPICS = ("entities", "regions", "get_entities")


@dataclass(frozen=True)
class TellConfig:
    distance: float = 1.0  # metres; chosen


class Tell:
    """Test expert that reports its known objects and rooms, and its number of requests."""

    name = "tell"

    def __init__(self, config: TellConfig) -> None:
        self.grid, self.scene, self.asked = None, None, 0

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        self.grid = grid

    def set_scene(self, scene) -> None:
        self.scene = scene

    def propose(self, request: ProposalRequest) -> Proposal:
        self.asked += 1
        rows = 0 if self.grid is None else self.grid.cells.shape[0]
        said = f"{sorted(self.scene.entities)} {sorted(self.scene.regions)} {rows} {self.asked}"
        return Proposal(self.name, request.epoch, request.robot_pose, 0.5, said)


SPEC = ExpertSpec("tell", TellConfig, lambda config, tools: Tell(config), color=(1.0, 0.0, 0.0))


def thing(identity: int, height: float) -> Instance:
    middle = np.array([2.0, 2.0, height])
    return Instance(
        identity, 100, middle, np.eye(3) * 0.01, middle - 0.25, middle + 0.25,
        (CaptionVote("chair", "red chair", 3.0),), occupancy_probability=0.9, observation_count=5, confirmed=True,
        first_seen=0.5, last_seen=1.0,
    )  # fmt: skip


def room(rows: int, stamp: float) -> OccupancyGrid2D:
    """Return the grid of a room of rows x 60 cells between walls."""
    cells = np.full((rows, 60), OCCUPIED, np.int8)
    cells[2:-2, 2:-2] = FREE
    return OccupancyGrid2D(cells, 0.1, (-1.0, -1.0), stamp)


class Loop:
    """Fake decision loop that stores its newest inputs."""

    def __init__(self) -> None:
        self.building, self.here, self.whole, self.rows = Building(), None, None, 0

    def on_building(self, building: Building) -> None:
        self.building = building

    def on_scene(self, mirror, whole) -> None:
        self.here, self.whole = mirror, whole

    def on_grid(self, grid: OccupancyGrid2D) -> None:
        self.rows = len(grid.cells)


class AtOnce:
    """Fake loop thread that runs work at once."""

    def post(self, work: Callable[[], None], slot: str = "") -> None:
        work()


class Bed:
    """The nodes in one executor, and publishers in place of mapping and voxel nodes."""

    def __init__(self, context: Context) -> None:
        remap = ["--ros-args"] + [a for t in TOPICS for a in ("-r", f"{t}:=scene_dictionary/{t}")]
        with registered(SPEC):
            self.expert = ExpertNode(context=context, cli_args=[*remap, "-r", "__node:=tell_expert"])
        given = [Parameter("regions_period", value=0.2)]
        self.scene = SceneDictionaryNode(context=context, parameter_overrides=given)
        self.selector = LodestarNode("selector", context=context, cli_args=remap)
        self.loop = Loop()
        floors = SelectorScene(self.selector, self.loop, AtOnce()).floors
        GridInput(self.selector, self.loop, AtOnce(), floors)
        self.driver = Node("driver", context=context)
        self.executor = SingleThreadedExecutor(context=context)
        for node in (self.expert, self.scene, self.selector, self.driver):
            self.executor.add_node(node)
        self.floors = self.driver.create_publisher(String, "mapping/building", qos.LATCHED)
        self.grids = self.driver.create_publisher(OccupancyGrid, "grid", qos.LATCHED)
        self.instances = self.driver.create_publisher(msg.InstanceArray, "instances", qos.EVENT)
        self.client = ActionClient(self.driver, ProposeGoal, "tell_expert/propose")
        self.revision, self.said = 0, ""
        self.until(lambda: self.instances.get_subscription_count() > 0, "the dictionary")

    def close(self) -> None:
        for node in (self.expert, self.scene, self.selector):
            node.close()
        self.executor.shutdown()
        for node in (self.expert, self.scene, self.selector, self.driver):
            node.destroy_node()  # removes its latched messages

    def spin(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.05)

    def until(self, holds: Callable[[], bool], what: str) -> None:
        spun = lambda: self.executor.spin_once(timeout_sec=0.05) or holds()  # noqa: E731
        wait_for(spun, lambda: f"{what}; the expert said {self.said!r}", every=0.0)

    def see(self, *things: Instance) -> None:
        self.revision += 1
        delta = InstanceDelta(time.time(), self.revision, self.revision - 1, updated=things, session_id="one")
        self.instances.publish(instances_to_msg(delta))

    def stand(self, building: Building, rows: int = 0) -> None:
        """Publish the building with the robot's floor, like the mapping node, then that floor's grid."""
        stamp = time.time()
        self.floors.publish(String(data=text_of(replace(building, since=stamp if rows else 0.0))))
        if rows:
            self.grids.publish(grid_to_msg(room(rows, stamp)))

    def ask(self) -> list[str]:
        """Ask the expert; return its object ids, room ids, and grid rows with number of requests, as texts."""
        answers: list[Proposal | Rejection] = []
        request = ProposalRequest(
            3, time.time(), parse_directive("find the mug"), 0, np.zeros(3), deadline=time.time() + LIMIT
        )

        def accepted(future) -> None:
            future.result().get_result_async().add_done_callback(
                lambda done: answers.append(answer_from_result(done.result().result, "tell", 3))
            )

        self.until(self.client.server_is_ready, "the expert")
        self.client.send_goal_async(request_to_goal(request)).add_done_callback(accepted)
        self.until(lambda: bool(answers), "an answer")
        assert isinstance(answers[0], Proposal), answers
        self.said = answers[0].rationale
        return [part.strip(" ") for part in self.said.replace("]", "[").split("[") if part.strip()]

    def selects(self, *things: int) -> None:
        """Wait until the loop's scene contains exactly these objects."""
        self.until(lambda: set(self.loop.here.entities) == set(things), f"{things} for the selector")

    def asked_until(self, things: str, rows: int) -> list[str]:
        """Ask until the expert knows exactly these objects, some room, and a grid of `rows` rows; return its answer."""
        said: list[str] = []

        def fits() -> bool:
            said[:] = self.ask()
            return len(said) == 3 and said[0] == things and said[2].split()[0] == str(rows)

        self.until(fits, f"things {things}, a room and a grid of {rows} rows")
        return said


def questions(said: list[str]) -> int:
    return int(said[2].split()[1])


@pytest.fixture
def bed():
    context = Context()
    context.init()
    made = Bed(context)
    yield made
    made.close()
    context.try_shutdown()


def test_things_and_rooms_of_one_floor_are_unknown_on_the_other(bed: Bed) -> None:
    one = Building((FIRST,), active=1)
    bed.stand(one, rows=50)
    bed.see(thing(1, 0.5))
    first = bed.asked_until("1", 50)
    bed.selects(1)
    assert bed.loop.here is bed.loop.whole

    both = Building((FIRST, SECOND), active=2)
    bed.stand(replace(one, active=UNKNOWN, note="I am on the stairs"))
    bed.stand(both, rows=40)
    bed.see(thing(2, 3.5))
    second = bed.asked_until("2", 40)
    assert bed.expert._experts.all[0] is not bed.expert._experts.here
    assert not {*second[1].split(", ")} & {*first[1].split(", ")}, "no room is one of both floors"
    bed.selects(2)
    assert set(bed.loop.whole.entities) == {1, 2}
    bed.until(lambda: set(bed.loop.here.regions) == {int(i) for i in second[1].split(", ")}, "its rooms")

    bed.grids.publish(grid_to_msg(room(50, bed.loop.building.since - 0.5)))  # late grid of the first floor
    bed.spin(0.5)
    late = bed.asked_until("2", 40)
    assert late[1] == second[1], "it is divided into no rooms"
    assert bed.loop.rows == 40, "and the loop plans on none"

    for bad in ("", "{", '{"floors": 3}', text_of(both).replace('"active": 2', '"active": 7')):
        bed.floors.publish(String(data=bad))
    bed.spin(0.3)
    assert bed.asked_until("2", 40) and bed.loop.building.active == 2

    bed.stand(replace(both, active=UNKNOWN, note="I am between two floors"))
    bed.grids.publish(grid_to_msg(room(20, time.time())))  # belongs to no floor
    bed.until(lambda: bed.loop.building.is_between, "the word that it is between two floors")
    bed.spin(0.6)
    assert bed.ask()[2].split()[0] == "40"
    bed.selects(2)

    bed.stand(replace(both, active=1), rows=50)
    again = bed.asked_until("1", 50)
    assert again[1] == first[1], "its rooms have the ids that they had"
    assert questions(again) > questions(first), "its expert is the one that it had"
    bed.selects(1)
    assert bed.loop.whole.building.active == 1


def test_without_a_word_of_floors_all_things_are_here(bed: Bed) -> None:
    bed.grids.publish(grid_to_msg(room(50, time.time())))
    bed.see(thing(1, 0.5), thing(2, 3.5))
    bed.asked_until("1, 2", 50)
    bed.selects(1, 2)
    assert bed.loop.here is bed.loop.whole
