"""The whole stack with its simulator: the graph is the one that ARCHITECTURE.md says, and a death is only one."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import declared
import pytest
from geometry_msgs.msg import PoseStamped, Twist
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.action import get_action_names_and_types
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from std_msgs.msg import Header
from std_srvs.srv import SetBool

from integration.commands import Command
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

#: Shorter patience than a robot's, so that the suite is short; what is tested is that a directive ends, and how.
TIMES = {
    "loop.grid_patience": 8.0,
    "loop.no_expert_timeout": 8.0,
    "loop.navigator_timeout": 4.0,
    "navigator.silence_timeout": 6.0,
    "clock_patience": 5.0,
}


@dataclass(frozen=True)
class Topic:
    """A row of the table."""

    name: str
    type: str
    publisher: str
    profile: str


def rows(*head: str) -> list[list[str]]:
    """Cells of the table in ARCHITECTURE.md that has these headings."""
    text = (declared.ROOT / "ARCHITECTURE.md").read_text()
    heading = "| " + " | ".join(head) + " |"
    table = re.search(rf"^{re.escape(heading)}\n\|[-|]+\|\n((?:\|.*\|\n)+)", text, re.MULTILINE)
    assert table, f"ARCHITECTURE.md has no table with {head}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1].splitlines()]


KEEPERS = {spec.name for spec in stack("sim") if spec.keeps}
OPTIONAL = {"sign_reader"}  # started by an option alone; its own test is test_sign_reader_node.py
DOCUMENTED = [Topic(*row) for row in rows("topic", "type", "publisher", "QoS")]
TOPICS = [topic for topic in DOCUMENTED if topic.publisher not in OPTIONAL]
SERVICES = rows("service", "type", "server")
ACTIONS = rows("action", "type", "server")


def absolute(name: str) -> str:
    return name if name.startswith("/") else f"/{name}"


@pytest.fixture(scope="module")
def stack(bed, processes):
    """All processes, up and heard of, in the apartment; images small, so that two cores carry it."""
    processes.start(parameters={"sim": {"camera_width": 160, "camera_height": 120}, "goal_selector": TIMES})
    bed.hear(msg.Heartbeat, "goal_selector/heartbeat", qos.COMMAND)
    bed.hear(Twist, "cmd_vel_out", qos.COMMAND)
    bed.hear(Odometry, "odom", qos.RELIABLE)
    bed.hear(Odometry, "sim/ground_truth", qos.EVENT)
    bed.hear(msg.SceneDelta, "scene_dictionary/entities", qos.EVENT)
    bed.hear(OccupancyGrid, "grid", qos.LATCHED)
    bed.until(lambda: set(NODES) <= set(bed.node.get_node_names()), "every node in the graph", timeout=120.0)
    bed.until(lambda: all(bed.diagnosis(name) for name in NODES), "everyone's diagnostics", timeout=120.0)
    bed.until(lambda: len(bed.heard["grid"]) >= 2, "a grid and a newer one", timeout=120.0)
    explorer = bed.action(ProposeGoal, "frontier_expert/propose")

    def answers():  # and has compiled what it compiles at the first question
        return explorer.result(question(bed), timeout=120.0).error_code == 0

    bed.until(answers, "the explorer knows where to go", timeout=120.0)
    return processes


def question(bed):
    """A question to an expert from where the robot stands."""
    place = bed.last("sim/ground_truth")
    pose = PoseStamped(header=Header(frame_id="map", stamp=place.header.stamp), pose=place.pose.pose)
    directive = directive_to_msg(parse_directive("find the unicorn"))
    return ProposeGoal.Goal(epoch=1, directive=directive, robot_pose=pose)


def revive(bed, stack, name):
    """Start it again, and see it up: the next directive has little patience."""
    bed.forget("/diagnostics")
    stack.starter.start_one(name)
    bed.until(lambda: bed.diagnosis(name), f"{name} is back", timeout=60.0)


# --- the doctor -----------------------------------------------------------------------------------------


def ask_the_doctor(domain: int) -> tuple[int, list[str]]:
    """Exit status and the lines with a fault; the middleware is that of the processes."""
    asked = Command("lodestar_ros.doctor", "--seconds", "5", environment={"ROS_DOMAIN_ID": str(domain)})
    status = asked.ends()
    return status, [line for line in asked.text.splitlines() if line.startswith("FAULT")]


def test_the_doctor_finds_no_fault_in_a_sound_stack_and_names_who_passes_the_gate(bed, stack, domain):
    status, faults = ask_the_doctor(domain)
    assert (status in (0, 1), faults) == (True, [])
    past = bed.on_executor(lambda: bed.node.create_publisher(Twist, "cmd_vel_out", qos.COMMAND))
    status, faults = ask_the_doctor(domain)
    bed.on_executor(lambda: bed.node.destroy_publisher(past))
    assert status == 3
    assert ["/test_bed publishes on cmd_vel_out" in fault for fault in faults] == [True]


# --- the graph -----------------------------------------------------------------------------------------


def test_every_node_is_a_process_of_its_own(stack):
    pids = {name: stack.starter.pid(name) for name in NODES}
    assert len(set(pids.values())) == len(NODES)
    stack.assert_alive()


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_topic(bed, stack, topic):
    name = absolute(topic.name)
    infos = bed.node.get_publishers_info_by_topic(name)
    ours = [info for info in infos if info.node_name in NODES]
    assert {info.topic_type for info in ours} == {topic.type}
    publishers = {info.node_name for info in ours}
    groups = {"every node": set(NODES), "keepers of checkpoints": KEEPERS}
    assert publishers == groups.get(topic.publisher, {topic.publisher})
    expected = qos.PROFILES[topic.profile]
    for info in ours:
        profile = info.qos_profile
        assert profile.reliability == expected.reliability, (info.node_name, profile)
        assert profile.durability == expected.durability, (info.node_name, profile)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_everyone_who_listens_can_hear(bed, stack, topic):
    """No subscriber asks for more than the publisher gives, and all speak of the same type."""
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


#: A joystick, a person who tells of floors, and SLAM Toolbox, which are there or not.
FROM_OTHERS = {"/cmd_vel_joy", "/goal_selector/told", "/slam_toolbox/graph_visualization"}


def test_what_is_subscribed_is_published(bed, stack):
    """A subscription that nobody feeds is a remap that was forgotten."""
    published = {absolute(topic.name) for topic in DOCUMENTED} | FROM_OTHERS
    for node in NODES:
        for name, _ in bed.node.get_subscriber_names_and_types_by_node(node, "/"):
            if not re.search(r"/_action/|^/parameter_events$", name):
                assert name in published, f"{node} listens to {name}, which nobody publishes"


@pytest.mark.parametrize("row", SERVICES, ids=lambda row: row[0])
def test_service(bed, stack, row):
    name, kind, server = row
    served = dict(bed.node.get_service_names_and_types_by_node(server, "/"))
    assert served.get(absolute(name)) == [kind]


@pytest.mark.parametrize("row", ACTIONS, ids=lambda row: row[0])
def test_action(bed, stack, row):
    name, kind, server = row
    assert dict(get_action_names_and_types(bed.node)).get(absolute(name)) == [kind]
    served = dict(bed.node.get_service_names_and_types_by_node(server.split(",")[0], "/"))
    assert f"{absolute(name)}/_action/send_goal" in served


# --- deaths in mid-drive -------------------------------------------------------------------------------


def moved(bed, since):
    """Metres between the odometry at an index and now."""
    track = [message.pose.pose.position for _, message in bed.heard["odom"][since:]]
    return math.dist((track[0].x, track[0].y), (track[-1].x, track[-1].y)) if track else 0.0


def is_driving(bed):
    return any(twist.linear.x or twist.angular.z for at, twist in bed.heard["cmd_vel_out"][-20:])


@pytest.fixture
def directive(bed, stack):
    """A directive under way for something that is not there, and the robot moving."""
    goal = bed.action(FollowDirective, "follow_directive").send(FollowDirective.Goal(text="find the unicorn"))
    try:
        bed.until(lambda: is_driving(bed) or goal.future.done(), "the robot drives", timeout=90.0)
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

#: What has been killed and started again by the time that the later tests run.
REVIVED = (*EXPENDABLE, "sim_navigator", "mapping", "frontier_expert")


def test_the_robot_goes_on_without_any_of_those_that_it_can_do_without(bed, stack, directive):
    """Each is killed in mid-drive and started again; nobody else dies and the directive stays open."""
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
    bed.until(lambda: is_driving(bed), "the robot still drives", timeout=90.0)
    bed.forget("/diagnostics")
    bed.until(lambda: all(bed.diagnosis(name) for name in NODES), "all are back", timeout=60.0)


def test_entities_that_came_before_reach_one_who_starts_late(bed, stack, directive):
    """What an expert that has just been started knows of before, it has by paging. The robot drives: where it stands
    when the map has just been lost there may be nothing but a wall."""
    bed.until(lambda: bed.count("scene_dictionary", "entities") > 0, "an entity", timeout=90.0)
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
    moment = stack.kill("sim_navigator")
    assert_stands(bed, moment)
    result = directive.result(timeout=120.0)
    assert result.error_code in (
        FollowDirective.Result.NAVIGATOR_UNAVAILABLE,
        FollowDirective.Result.NAVIGATION_FAILED,
    ), result.error_msg
    revive(bed, stack, "sim_navigator")
    stack.assert_alive(besides=(*EXPENDABLE, "sim_navigator"))


def test_the_robot_stands_without_a_map_and_the_directive_ends(bed, stack, directive):
    """The latched grid of a mapping that is dead is not driven on for ever."""
    stack.kill("mapping")
    result = directive.result(timeout=150.0)
    assert result.error_code == FollowDirective.Result.NO_MAP, result.error_msg
    assert "mapping" in result.error_msg
    bed.forget("cmd_vel_out")
    bed.until(lambda: len(bed.heard["cmd_vel_out"]) > 20, "a second of commands")
    assert not is_driving(bed)
    revive(bed, stack, "mapping")
    stack.assert_alive(besides=(*EXPENDABLE, "sim_navigator", "mapping"))


def test_without_anyone_who_explores_the_directive_ends_with_the_reason(bed, stack, directive):
    stack.kill("frontier_expert")
    result = directive.result(timeout=150.0)
    assert result.error_code == FollowDirective.Result.NO_EXPERT, result.error_msg
    assert "frontier" in result.error_msg
    revive(bed, stack, "frontier_expert")
    stack.assert_alive(besides=REVIVED)


def test_the_robot_stands_without_its_selector(bed, stack, directive):
    moment = stack.kill("goal_selector")
    assert_stands(bed, moment)
    directive.future.set_result(None)  # nobody will answer
    stack.starter.start_one("goal_selector")
    bed.next("goal_selector/heartbeat", lambda beat: beat.held, timeout=90.0)  # it comes back held
    assert bed.call(SetBool, "motion_gate/hold", SetBool.Request(data=False)).success
    bed.next("goal_selector/heartbeat", lambda beat: beat.state == "IDLE")
    stack.assert_alive(besides=(*REVIVED, "goal_selector"))


def test_the_robot_stands_without_its_gate(bed, stack, directive):
    """The base itself times out; simulated seconds, by the odometry."""
    stack.kill("motion_gate")
    seen = len(bed.heard["odom"])
    bed.until(lambda: len(bed.heard["odom"]) > seen + 100, "two simulated seconds")
    after = bed.heard["odom"][seen + 60 :]
    assert all(abs(m.twist.twist.linear.x) < 0.02 for _, m in after), "it still drives without a gate"
    stack.starter.start_one("motion_gate")
    stack.assert_alive(besides=(*REVIVED, "goal_selector", "motion_gate"))


def test_a_directive_ends_when_the_world_ends(bed, stack, directive):
    """With the simulator the clock dies; the directive must not stay open for ever."""
    stack.kill("sim")
    result = directive.result(timeout=150.0)
    assert result.error_code != 0
    assert result.error_msg
    stack.assert_alive(besides=(*REVIVED, "goal_selector", "motion_gate", "sim"))


def assert_stands(bed, moment):
    """The base itself, by its odometry, stands half a simulated second after `moment` (real time)."""
    killed = stamp_from_msg(next(m for at, m in reversed(bed.heard["odom"]) if at <= moment).header.stamp)
    bed.until(lambda: stamp_from_msg(bed.last("odom").header.stamp) > killed + 1.0, "a simulated second")
    moved = [
        stamp_from_msg(odom.header.stamp)
        for _, odom in bed.heard["odom"]
        if max(abs(v) for v in speeds(odom.twist.twist)) > 0.02
    ]
    assert max(moved, default=0.0) - killed <= 0.5, f"it still moved {max(moved) - killed:.2f} s later"


def speeds(twist):
    return twist.linear.x, twist.linear.y, twist.angular.z
