"""The whole stack with its simulator: the graph is the one of docs/interfaces.md, and a death is only one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import declared
import pytest
from geometry_msgs.msg import PoseStamped, Twist
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.action import get_action_names_and_types
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from std_msgs.msg import Header
from waiting import wait_for

from integration.commands import Command
from integration.surroundings import release_until_idle
from lodestar.language.grammar import parse_directive
from lodestar_bringup.stack import stack
from lodestar_interfaces import msg
from lodestar_interfaces.action import FollowDirective, ProposeGoal
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.conversions_language import directive_to_msg

pytestmark = pytest.mark.alone

NODES = (
    "sim", "sim_navigator", "mapping", "perception", "text_embedder", "keyframes", "semantic_voxels",
    "scene_dictionary", "memory", "frontier_expert", "semantic_map_expert", "ego_vlm_expert", "goal_selector",
    "world_model", "motion_gate",
)  # fmt: skip

#: The tests check how a directive ends, not when; the other timeouts are those of a robot.
TIMES = {"navigator.silence_timeout": 10.0}


@dataclass(frozen=True)
class Topic:
    """A row of the table of topics."""

    name: str
    type: str
    publisher: str
    profile: str


def rows(*head: str) -> list[list[str]]:
    """Return the cells of the table in docs/interfaces.md that has these headings."""
    text = (declared.ROOT / "docs" / "interfaces.md").read_text()
    heading = "| " + " | ".join(head) + " |"
    table = re.search(rf"^{re.escape(heading)}\n\|[-|]+\|\n((?:\|.*\|\n)+)", text, re.MULTILINE)
    assert table, f"docs/interfaces.md has no table with {head}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines()]


KEEPERS = {spec.name for spec in stack("sim") if spec.keeps}
OPTIONAL = {"sign_reader"}  # started by an option only; tested in test_sign_reader_node.py
DOCUMENTED = [Topic(*row) for row in rows("topic", "type", "publisher", "QoS")]
TOPICS = [topic for topic in DOCUMENTED if topic.publisher not in OPTIONAL]
SERVICES = rows("service", "type", "server")
ACTIONS = rows("action", "type", "server")


def absolute(name: str) -> str:
    return name if name.startswith("/") else f"/{name}"


def serves(bed, name, node):
    """The types of a service, if the node serves it."""
    return dict(bed.node.get_service_names_and_types_by_node(node, "/")).get(absolute(name))


@pytest.fixture(scope="module")
def stack(bed, processes):
    """Return all processes, started and discovered, in the apartment; with small images, for two cores."""
    processes.start(parameters={"sim": {"camera_width": 160, "camera_height": 120}, "goal_selector": TIMES})
    bed.hear(msg.Heartbeat, "goal_selector/heartbeat", qos.COMMAND)
    bed.hear(Twist, "cmd_vel_out", qos.COMMAND)
    bed.hear(Odometry, "odom", qos.RELIABLE)
    bed.hear(Odometry, "sim/ground_truth", qos.EVENT)
    bed.hear(msg.SceneDelta, "scene_dictionary/entities", qos.EVENT)
    bed.hear(OccupancyGrid, "grid", qos.LATCHED)
    bed.hear(msg.Holds, "motion_gate/holds", qos.LATCHED)
    bed.until(lambda: set(NODES) <= set(bed.node.get_node_names()), "every node in the graph")
    bed.until(lambda: all(bed.diagnosis(name) for name in NODES), "everyone's diagnostics")
    bed.until(lambda: len(bed.heard["grid"]) >= 2, "a grid and a newer one")
    explorer = bed.action(ProposeGoal, "frontier_expert/propose")

    def answers():  # and has finished compiling, which the first question triggers
        return explorer.result(question(bed)).error_code == 0

    bed.until(answers, "the explorer knows where to go")
    return processes


def question(bed):
    """Return a request to an expert at the robot's current pose."""
    place = bed.last("sim/ground_truth")
    pose = PoseStamped(header=Header(frame_id="map", stamp=place.header.stamp), pose=place.pose.pose)
    directive = directive_to_msg(parse_directive("find the unicorn"))
    return ProposeGoal.Goal(epoch=1, directive=directive, robot_pose=pose)


def revive(bed, stack, name):
    """Restart a node and wait until it is up."""
    bed.forget("/diagnostics")
    stack.starter.start_one(name)
    bed.until(lambda: bed.diagnosis(name), f"{name} is back")


# --- the doctor -----------------------------------------------------------------------------------------


def ask_the_doctor() -> tuple[int, list[str]]:
    """Run the doctor with the middleware of the processes; return exit status and the lines with faults."""
    asked = Command("lodestar_ros.doctor", "--seconds", "10")
    status = asked.ends()
    return status, [line for line in asked.text.splitlines() if line.startswith("FAULT")]


def until_the_doctor(tells: Callable[[int, list[str]], bool], what: str) -> None:
    """Run the doctor until it tells something: 15 nodes on two cores are late now and then, which are faults too."""
    told = []

    def look() -> bool:
        told.append(ask_the_doctor())
        return tells(*told[-1])

    wait_for(look, lambda: f"{what}; the last looks: {told[-3:]}")


def test_the_doctor_finds_no_fault_in_a_sound_stack_and_names_who_passes_the_gate(bed, stack):
    until_the_doctor(lambda status, faults: status in (0, 1) and faults == [], "a look without faults")
    past = bed.on_executor(lambda: bed.node.create_publisher(Twist, "cmd_vel_out", qos.COMMAND))

    def names_the_intruder(status: int, faults: list[str]) -> bool:
        return status == 3 and len(faults) == 1 and "/test_bed publishes on cmd_vel_out" in faults[0]

    try:
        until_the_doctor(names_the_intruder, "one fault, that of the intruder")
    finally:
        bed.on_executor(lambda: bed.node.destroy_publisher(past))


# --- the graph -----------------------------------------------------------------------------------------


def test_every_node_is_a_process_of_its_own(stack):
    pids = {name: stack.starter.pid(name) for name in NODES}
    assert len(set(pids.values())) == len(NODES)
    stack.assert_alive()


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_topic(bed, stack, topic):
    groups = {"every node": set(NODES), "keepers of checkpoints": KEEPERS}
    publishers = groups.get(topic.publisher, {topic.publisher})

    def ours():
        infos = bed.node.get_publishers_info_by_topic(absolute(topic.name))
        found = [info for info in infos if info.node_name in NODES]
        return found if {info.node_name for info in found} == publishers else []

    ours = bed.until(ours, f"that {publishers} publish it, and nobody else")
    assert {info.topic_type for info in ours} == {topic.type}
    expected = qos.PROFILES[topic.profile]
    for info in ours:
        profile = info.qos_profile
        assert profile.reliability == expected.reliability, (info.node_name, profile)
        assert profile.durability == expected.durability, (info.node_name, profile)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_everyone_who_listens_can_hear(bed, stack, topic):
    """Publishers and subscribers of a topic have the same type and compatible QoS."""
    offered = qos.PROFILES[topic.profile]
    for info in bed.node.get_subscriptions_info_by_topic(absolute(topic.name)):
        if info.node_name not in NODES:
            continue
        wanted = info.qos_profile
        assert info.topic_type == topic.type, info.node_name
        deaf = wanted.reliability == ReliabilityPolicy.RELIABLE and (
            offered.reliability == ReliabilityPolicy.BEST_EFFORT
        )
        assert not deaf, f"{info.node_name} wants {topic.name} reliably"
        late = wanted.durability == DurabilityPolicy.TRANSIENT_LOCAL and (
            offered.durability == DurabilityPolicy.VOLATILE
        )
        assert not late, f"{info.node_name} wants {topic.name} latched"


def test_no_topic_is_missing_in_the_table(bed, stack):
    known = {absolute(topic.name) for topic in TOPICS}
    of_ros = re.compile(r"^/(rosout|parameter_events)$|/_action/|/_service_event$")
    found = set()
    for node in NODES:
        for name, _ in bed.node.get_publisher_names_and_types_by_node(node, "/"):
            if not of_ros.search(name):
                found.add(name)
    assert found - known == set()


#: Topics of optional publishers: a joystick, a person who reports floors, and SLAM Toolbox.
FROM_OTHERS = {"/cmd_vel_joy", "/goal_selector/told", "/slam_toolbox/graph_visualization"}


def test_what_is_subscribed_is_published(bed, stack):
    """A subscription without publisher indicates a missing remapping."""
    published = {absolute(topic.name) for topic in DOCUMENTED} | FROM_OTHERS
    for node in NODES:
        for name, _ in bed.node.get_subscriber_names_and_types_by_node(node, "/"):
            if not re.search(r"/_action/|^/parameter_events$", name):
                assert name in published, f"{node} listens to {name}, which nobody publishes"


@pytest.mark.parametrize("row", SERVICES, ids=lambda row: row[0])
def test_service(bed, stack, row):
    name, kind, server = row
    assert bed.until(lambda: serves(bed, name, server), f"{server} serves it") == [kind]


@pytest.mark.parametrize("row", ACTIONS, ids=lambda row: row[0])
def test_action(bed, stack, row):
    name, kind, server = row
    kinds = lambda: dict(get_action_names_and_types(bed.node)).get(absolute(name))  # noqa: E731
    assert bed.until(kinds, "it is served") == [kind]
    server = server.split(",")[0]
    bed.until(lambda: serves(bed, f"{name}/_action/send_goal", server), f"{server} serves it")


# --- deaths in mid-drive -------------------------------------------------------------------------------


def moved(bed, since):
    """Return the metres between the odometry message at an index and the newest."""
    track = [message.pose.pose.position for _, message in bed.heard["odom"][since:]]
    return math.dist((track[0].x, track[0].y), (track[-1].x, track[-1].y)) if track else 0.0


def is_driving(bed):
    return any(twist.linear.x or twist.angular.z for at, twist in bed.heard["cmd_vel_out"][-20:])


@pytest.fixture
def directive(bed, stack):
    """Return a running directive for a missing object, with the robot moving."""
    for name in REVIVED:
        if stack.starter.process(name).poll() is not None:  # a failed test has left it dead
            revive(bed, stack, name)
    goal = bed.action(FollowDirective, "follow_directive").send(FollowDirective.Goal(text="find the unicorn"))
    try:
        bed.until(lambda: is_driving(bed) or goal.future.done(), "the robot drives")
        assert not goal.future.done(), f"it ended: {goal.result()}"
    except AssertionError as error:
        said = dict.fromkeys(feedback.text for _, feedback in goal.feedback)
        gate, selector = bed.diagnosis("motion_gate"), stack.log("goal_selector")
        raise AssertionError(
            f"{error}; feedback {list(said)}; gate {gate}; selector's log:\n{selector}"
        ) from None
    yield goal
    if not goal.future.done():
        goal.cancel()
        goal.result()


EXPENDABLE = ("perception", "keyframes", "text_embedder", "semantic_voxels", "ego_vlm_expert", "semantic_map_expert",
              "scene_dictionary")  # fmt: skip

#: Nodes that earlier tests have killed and restarted.
REVIVED = (*EXPENDABLE, "sim_navigator", "mapping", "frontier_expert")


def test_the_robot_goes_on_without_any_of_those_that_it_can_do_without(bed, stack, directive):
    """Each expendable node is killed while driving and restarted; no other dies and the directive stays open."""
    for name in EXPENDABLE:
        stack.kill(name)
        beats = len(bed.heard["goal_selector/heartbeat"])
        bed.until(
            lambda beats=beats: len(bed.heard["goal_selector/heartbeat"]) > beats + 10,
            f"a second without {name}",
        )
        stack.assert_alive(besides=EXPENDABLE)
        assert not directive.future.done(), f"the directive ended without {name}: {directive.result()}"
        stack.starter.start_one(name)
    bed.forget("cmd_vel_out")
    bed.until(lambda: is_driving(bed), "the robot still drives")
    bed.forget("/diagnostics")
    bed.until(lambda: all(bed.diagnosis(name) for name in NODES), "all are back")


def test_entities_that_came_before_reach_one_who_starts_late(bed, stack, directive):
    """A restarted expert gets earlier entities by paging. The robot drives, as its view may show only a wall just
    after the map was lost."""
    bed.until(lambda: bed.count("scene_dictionary", "entities") > 0, "an entity")
    stack.kill("semantic_map_expert")
    bed.forget("/diagnostics")
    stack.starter.start_one("semantic_map_expert")
    bed.until(lambda: bed.count("semantic_map_expert", "scene.pagings") >= 1, "the expert has paged")
    bed.until(
        lambda: (
            bed.count("semantic_map_expert", "scene.entities")
            >= bed.count("scene_dictionary", "entities")
            > 0
        ),
        "the expert knows every entity",
    )


def test_the_robot_stands_without_its_navigator_and_the_directive_ends(bed, stack, directive):
    bed.hear(Twist, "cmd_vel", qos.COMMAND)  # only now: the doctor reports who else listens to it
    bed.until(lambda: bed.heard["cmd_vel"], "the navigator's velocities")
    assert_stands(bed, stack.kill("sim_navigator"), "cmd_vel")
    result = directive.result()
    assert result.error_code in (
        FollowDirective.Result.NAVIGATOR_UNAVAILABLE,
        FollowDirective.Result.NAVIGATION_FAILED,
    ), f"{result.error_msg}; mapping {bed.diagnosis('mapping')}; selector {bed.diagnosis('goal_selector')}"
    revive(bed, stack, "sim_navigator")
    stack.assert_alive(besides=(*EXPENDABLE, "sim_navigator"))


def test_the_robot_stands_without_a_map_and_the_directive_ends(bed, stack, directive):
    """The robot must not keep driving on the latched grid of a dead mapping node."""
    stack.kill("mapping")
    result = directive.result()
    assert result.error_code == FollowDirective.Result.NO_MAP, result.error_msg
    assert "mapping" in result.error_msg
    bed.forget("cmd_vel_out")
    bed.until(
        lambda: len(bed.heard["cmd_vel_out"]) > 20 and not is_driving(bed), "a second of commands to stand"
    )
    revive(bed, stack, "mapping")
    stack.assert_alive(besides=(*EXPENDABLE, "sim_navigator", "mapping"))


def test_without_anyone_who_explores_the_directive_ends_with_the_reason(bed, stack, directive):
    stack.kill("frontier_expert")
    result = directive.result()
    assert result.error_code == FollowDirective.Result.NO_EXPERT, result.error_msg
    assert "frontier" in result.error_msg
    revive(bed, stack, "frontier_expert")
    stack.assert_alive(besides=REVIVED)


def test_the_robot_stands_without_its_selector(bed, stack, directive):
    assert_stands(bed, stack.kill("goal_selector"), "goal_selector/heartbeat")
    directive.future.set_result(None)  # the dead selector will not answer
    stack.starter.start_one("goal_selector")
    bed.next("goal_selector/heartbeat", lambda beat: beat.held)  # it restarts held
    release_until_idle(bed)
    stack.assert_alive(besides=(*REVIVED, "goal_selector"))


def test_the_robot_stands_without_its_gate(bed, stack, directive):
    """The base times out by itself, in simulated time, measured by odometry."""
    assert_stands(bed, stack.kill("motion_gate"), "cmd_vel_out", 1.2)
    number = bed.last("motion_gate/holds").number
    stack.starter.start_one("motion_gate")
    bed.until(lambda: bed.last("motion_gate/holds").number > number, "it comes back held")
    assert directive.result().error_code == FollowDirective.Result.HELD
    release_until_idle(bed)
    stack.assert_alive(besides=(*REVIVED, "goal_selector", "motion_gate"))


def test_a_directive_ends_when_the_world_ends(bed, stack, directive):
    """Without the simulator the clock stops; the directive must still end."""
    stack.kill("sim")
    result = directive.result()
    assert result.error_code != 0
    assert result.error_msg
    stack.assert_alive(besides=(*REVIVED, "goal_selector", "motion_gate", "sim"))


def assert_stands(bed, moment, topic, bound=0.5):
    """Check by odometry that the robot stands `bound` simulated seconds after the last message on the topic of a node
    that was killed at `moment`, waits for a core apart.
    """
    seen = len(bed.heard["odom"])
    bed.until(lambda: len(bed.heard["odom"]) > seen + 100, "two simulated seconds")
    waits = moment.waits()
    last = max(at for at, _ in bed.heard[topic])  # the test's node hears it as late as the odometry
    killed = stamp_from_msg(next(m for at, m in reversed(bed.heard["odom"]) if at <= last).header.stamp)
    moved = [
        stamp_from_msg(odom.header.stamp)
        for _, odom in bed.heard["odom"]
        if max(abs(v) for v in speeds(odom.twist.twist)) > 0.02
    ]
    late = max(moved, default=0.0) - killed
    assert late <= bound + waits, f"it still moved {late:.2f} s later, {waits:.2f} s of waits"


def speeds(twist):
    return twist.linear.x, twist.linear.y, twist.angular.z
