"""Tests of goal selector and motion gate as processes, with a fake navigator, experts and base."""

from __future__ import annotations

import time

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Twist
from rclpy.node import Node
from sensor_msgs.msg import CompressedImage
from std_srvs.srv import SetBool
from waiting import wait_for

from integration.commands import Command
from integration.surroundings import TIMES, World, another_place_each_time, chair, release_until_idle
from lodestar.selection.decisions import Decision, Outcome
from lodestar.worldmodel.decision_log import read_records
from lodestar.worldmodel.records import Trace
from lodestar_interfaces.action import FollowDirective
from lodestar_interfaces.msg import Hold
from lodestar_interfaces.srv import PlaceHold, ReleaseHold
from lodestar_ros import qos

pytestmark = pytest.mark.slow

Result = FollowDirective.Result


@pytest.fixture(scope="module")
def world(bed, processes, tmp_path_factory):
    log = tmp_path_factory.mktemp("decisions") / "decisions.jsonl"
    world = World(bed, processes, log)
    processes.start(
        "goal_selector", "motion_gate", parameters={"goal_selector": {**TIMES, "decision_log": str(log)}}
    )
    bed.next("goal_selector/heartbeat")
    world.robot.publish_grid()
    return world


@pytest.fixture(autouse=True)
def clean(world):
    world.reset()
    yield
    world.processes.assert_alive(besides=("goal_selector",))


# --- refused directives ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", Result.EMPTY_DIRECTIVE),
        ("   \n", Result.EMPTY_DIRECTIVE),
        ("colourless green ideas sleep furiously", Result.NOT_UNDERSTOOD),
        ("?!", Result.NOT_UNDERSTOOD),
    ],
)
def test_a_directive_that_says_nothing_ends_with_its_code(world, text, code):
    result = world.follow.result(FollowDirective.Goal(text=text))
    assert result.error_code == code
    assert result.error_msg
    assert not result.success


def test_a_picture_is_refused_and_not_ignored(world):
    goal = FollowDirective.Goal(text="find this", images=[CompressedImage(format="jpeg")])
    assert world.follow.result(goal).error_code == Result.BAD_IMAGE


def test_a_second_directive_is_told_that_one_runs(world):
    first = world.drive()
    second = world.follow.send(FollowDirective.Goal(text="find the desk"))
    assert second.result().error_code == Result.BUSY
    assert "red chair" in second.result().error_msg
    assert world.nav.driving, "the first goes on"
    first.cancel()
    assert first.result().error_code == Result.CANCELLED


def test_why_explains_the_goal_that_is_driven_to_and_the_trace_names_the_decision(world):
    said = "goal_selector/traces"
    for topic in (said, "goal_selector/decision"):
        world.bed.forget(topic)
    goal = world.drive()

    def explained():
        """Return the newest decision and its trace; either may come first."""
        trace, decision = world.bed.last(said), world.bed.last("goal_selector/decision")
        return trace and decision and trace.id == decision.trace_id and (trace, decision)

    trace, decision = world.bed.until(explained, "the trace of the decision")
    assert trace.proposer == decision.chosen
    asked = Command("lodestar_ros.why")
    assert asked.ends() == 0, asked.text
    assert '"find the red chair", decision' in asked.text
    assert f"did        look around from (2.0, 0.0) ({trace.proposer}" in asked.text
    goal.cancel()
    assert goal.result().error_code == Result.CANCELLED


# --- stopping ------------------------------------------------------------------------------------------


def test_cancel_stops_the_robot(world):
    said = "goal_selector/directive"
    goal = world.drive("find the red chair; keep away from the desk")

    def constraints():
        told = world.bed.last(said)
        return [one.item.text for one in told.constraints] if told else []

    world.bed.until(lambda: constraints() == ["desk"], "the directive that is followed")
    cancelled = world.nav.cancelled
    moment = world.now()
    goal.cancel()
    assert goal.result().error_code == Result.CANCELLED
    world.bed.until(
        lambda: not world.bed.last(said).subtasks, "the end of the directive is said, and of its zones"
    )
    assert goal.status == GoalStatus.STATUS_CANCELED
    world.assert_stops_after(moment)
    assert world.nav.cancelled > cancelled


def test_cancel_stops_the_robot_even_if_the_navigator_does_not_care(world):
    goal = world.drive()
    world.nav.mode = "ignore"
    moment = world.now()
    goal.cancel()
    world.assert_stops_after(moment)


@pytest.mark.parametrize("server", ["goal_selector/hold", "motion_gate/hold"])
def test_hold_stops_the_robot_and_latches(world, server):
    goal = world.drive()
    world.nav.mode = "ignore"
    moment = world.now()
    assert world.bed.call(SetBool, server, SetBool.Request(data=True)).success
    world.assert_stops_after(moment)
    assert goal.result().error_code == Result.HELD
    refused = world.follow.result(FollowDirective.Goal(text="find the desk"))
    assert refused.error_code == Result.HELD, "nothing begins while held"
    assert not world.moving()
    world.bed.call(SetBool, server, SetBool.Request(data=True))
    assert world.beat().held, "a second hold does not toggle"


def test_a_joystick_takes_over_and_the_robot_stands_held_once_it_is_let_go(world):
    bed = world.bed
    stick = bed.on_executor(lambda: bed.node.create_publisher(Twist, "cmd_vel_joy", qos.COMMAND))
    bed.until_heard(stick)
    goal = world.drive()
    world.nav.mode = "ignore"  # it keeps sending velocities
    back = Twist()
    back.linear.x = -0.25
    bed.forget("cmd_vel_out")

    def driven():
        """Return what has passed since the joystick took over."""
        passed = [twist.linear.x for _, twist in bed.heard["cmd_vel_out"]]
        return passed[passed.index(-0.25) :] if -0.25 in passed else []

    # Where the test publishes late, the joystick counts as let go: zeros, but nothing of the navigator.
    wait_for(lambda: stick.publish(back) or driven().count(-0.25) >= 14, "the joystick drives", every=0.05)
    moment = world.now()
    assert set(driven()) <= {-0.25, 0.0}, "nothing of the navigator's passes meanwhile"
    world.assert_stops_after(moment)
    assert goal.result().error_code == Result.HELD
    bed.on_executor(lambda: bed.node.destroy_publisher(stick))


def test_a_pause_stops_the_robot_and_the_directive_goes_on_afterwards(world):
    pause = "goal_selector/pause"
    goal = world.drive()
    moment = world.now()
    assert world.bed.call(SetBool, pause, SetBool.Request(data=True)).success
    world.assert_stops_after(moment)
    assert not goal.future.done(), "the directive is kept"
    assert world.bed.call(SetBool, pause, SetBool.Request(data=False)).success
    world.bed.until(world.moving, "it drives on")
    goal.cancel()
    assert goal.result().error_code == Result.CANCELLED


def test_the_gate_stands_while_another_publishes_past_it(world):
    """The gate detects other publishers itself, because go2_base, which also does, does not always run."""
    bed = world.bed
    goal = world.drive()
    past = bed.on_executor(lambda: bed.node.create_publisher(Twist, "cmd_vel_out", qos.COMMAND))
    try:
        bed.until(lambda: "past motion_gate" in bed.diagnosis("motion_gate").get("blocked", ""), "who it is")
        assert "/test_bed publishes velocities" in bed.diagnosis("motion_gate")["message"]
        world.assert_stops_after(world.now())
    finally:
        bed.on_executor(lambda: bed.node.destroy_publisher(past))
    bed.until(world.moving, "it drives on")
    goal.cancel()
    assert goal.result().error_code == Result.CANCELLED


def test_a_lost_goal_selector_stops_the_robot(world):
    goal = world.drive()
    world.nav.mode = "ignore"
    moment = world.processes.kill("goal_selector")
    world.assert_stops_after(moment)
    world.processes.assert_alive(besides=("goal_selector",))
    del goal
    world.processes.starter.start_one("goal_selector")
    world.beat(lambda beat: beat.held and beat.state == "HELD")
    assert not world.moving(), "a selector that came back has no directive"


def test_a_goal_selector_that_came_back_is_held_until_a_person_releases_it(world):
    world.drive()
    world.processes.kill("goal_selector")
    world.processes.starter.start_one("goal_selector")
    world.beat(lambda beat: beat.held and beat.state == "HELD")
    world.bed.until(lambda: not world.nav.driving, "the goal of the one that died is taken back")
    world.bed.until(
        lambda: "held by" in world.bed.diagnosis("motion_gate").get("message", ""), "the gate says why"
    )
    refused = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert refused.error_code == Result.HELD, "nothing begins while held"
    assert "goal_selector" in refused.error_msg and "hold off" in refused.error_msg
    world.nav.mode = "ignore"  # it keeps sending velocities despite the cancel
    world.bed.forget("cmd_vel_out")
    world.bed.next("cmd_vel_out")
    assert not world.last_nonzero()
    world.nav.mode = "drive"
    release_until_idle(world.bed)
    world.drive().cancel()


# --- the navigator -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["abort", "reject"])
def test_a_navigator_that_never_gets_there(world, mode):
    world.nav.mode = mode
    frontier = world.experts["frontier"]
    frontier.answer = another_place_each_time(frontier)
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert result.error_code == Result.NAVIGATION_FAILED
    assert result.epochs > 1, "it tried other goals first"
    assert {"abort": "no valid path", "reject": "rejected"}[mode] in result.error_msg


# --- experts, map, time --------------------------------------------------------------------------------


def test_nothing_left_to_explore(world):
    world.experts["frontier"].answer = world.experts["frontier"].explored
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert result.error_code == Result.TARGET_NOT_FOUND


def test_the_time_limit_ends_it(world):
    goal = FollowDirective.Goal(text="find the red chair")
    goal.time_limit.sec = 2
    world.experts["frontier"].goes_to(2.0, 0.0, 0.0)
    sent = world.follow.send(goal)
    assert sent.result().error_code == Result.TIME_LIMIT
    world.assert_stops_after(world.now())


def test_feedback_comes_twice_a_second_and_says_what_is_done(world):
    moment = world.now()
    goal = world.drive()
    seen = len(goal.feedback)
    world.bed.until(
        lambda: len(goal.feedback) >= seen + 5 and goal.phase == "EXPLORING", "feedback while it drives"
    )
    times = [at for at, _ in goal.feedback]
    steps = len(times) - 1
    assert abs(times[-1] - times[0] - 0.5 * steps) <= 0.2 * steps + moment.waits()
    feedback = goal.feedback[-1][1]
    assert (feedback.phase, feedback.expert) == ("EXPLORING", "frontier")
    assert feedback.goal.header.frame_id == "map"
    assert feedback.coverage > 50.0
    assert feedback.text
    goal.cancel()


def test_the_target_is_reached_seen_again_and_claimed(world):
    place = (1.5, 0.0)
    world.robot.pose = (0.55, 0.0, 0.0)
    world.see(chair(7, place, time.time()))
    world.experts["semantic_map"].goes_to(0.55, 0.0, 0.0, entity_id=7)
    goal = world.follow.send(FollowDirective.Goal(text="find the red chair"))
    world.bed.until(lambda: world.nav.driving, "it drives to the chair")
    world.nav.arrive()
    world.bed.until(lambda: goal.phase in ("VERIFYING", "DECIDING") or goal.future.done(), "it looks")
    while not goal.future.done():
        world.see(chair(7, place, time.time()))
        time.sleep(0.2)
    result = goal.result()
    assert (result.error_code, result.success, list(result.entity_ids)) == (Result.NONE, True, [7])
    assert goal.status == GoalStatus.STATUS_SUCCEEDED

    def logged():  # the end may be written after the result was sent
        records = list(read_records(world.log))
        decisions = [record for record in records if isinstance(record, Decision)]
        return decisions[-1].outcome is not Outcome.PENDING and (records, decisions)

    records, decisions = wait_for(logged, "the outcome of the last decision in the log")
    traces = {record.id for record in records if isinstance(record, Trace)}
    process = decisions[-1].trace_id.partition("-")[
        0
    ]  # a process killed earlier may have left incomplete records
    mine = {one.trace_id for one in decisions if one.trace_id.startswith(process)}
    assert mine <= traces, "every decision that was driven has its trace"
    assert (decisions[-1].outcome, decisions[-1].chosen) == (Outcome.REACHED, "semantic_map")
    assert sum(arm.propensity for arm in decisions[-1].arms) == pytest.approx(1.0)
    assert decisions[-1].epoch in {one.epoch for one in decisions if one.outcome is Outcome.PENDING}


@pytest.mark.parametrize("held", [False, True])
def test_a_gate_that_was_killed_comes_back_held_and_with_the_hold_that_it_acknowledged(world, held):
    world.drive()
    if held:
        assert world.bed.call(SetBool, "motion_gate/hold", SetBool.Request(data=True)).success
    number = world.bed.last("goal_selector/heartbeat").follows
    moment = world.processes.kill("motion_gate")
    world.assert_soon(moment)
    world.processes.starter.start_one("motion_gate")
    told = world.bed.next("motion_gate/holds", lambda holds: holds.standing and holds.number > number)
    assert ("came back after a crash" in told.standing[0].why) is not held
    world.beat(lambda beat: beat.held and beat.follows == told.number)
    refused = world.follow.result(FollowDirective.Goal(text="find the desk"))
    assert refused.error_code == Result.HELD and f"number {told.number}" in refused.error_msg


def test_a_release_under_way_does_not_undo_a_later_stop(world):
    """A page releases what it was told, and somebody else presses STOP meanwhile."""
    call = world.bed.call
    first = call(PlaceHold, "motion_gate/place_hold", PlaceHold.Request(kind=1, who="page", why="STOP"))
    later = call(PlaceHold, "motion_gate/place_hold", PlaceHold.Request(kind=1, who="page", why="again"))
    late = call(ReleaseHold, "motion_gate/release_hold", ReleaseHold.Request(number=first.number))
    assert late.error_code == ReleaseHold.Response.LATER_HOLD and "again" in late.error_msg
    nothing = call(ReleaseHold, "motion_gate/release_hold", ReleaseHold.Request(number=later.number + 7))
    assert nothing.error_code == ReleaseHold.Response.NO_SUCH_HOLD
    assert (
        call(PlaceHold, "motion_gate/place_hold", PlaceHold.Request()).error_code
        == PlaceHold.Response.BAD_KIND
    )
    world.beat(lambda beat: beat.held)


def test_the_gate_says_who_holds_why_and_how_it_is_released(world):
    def told():
        return world.bed.diagnosis("motion_gate").get("message", "")

    for kind, verb in ((Hold.HOLD, "held"), (Hold.PAUSE, "paused")):
        asked = PlaceHold.Request(kind=kind, who="Ada", why="a child is near")
        number = world.bed.call(PlaceHold, "motion_gate/place_hold", asked).number
        world.bed.until(lambda verb=verb: f"stopped: {verb} by Ada since" in told(), "who it is")
        assert f": a child is near (number {number}); a person who sees the robot releases it" in told()
        assert "python -m lodestar_ros.hold off" in told() and "motion_gate/release_hold" in told()
        release_until_idle(world.bed)
    world.bed.until(lambda: told() == "stopped: motion not allowed", "that nothing holds it")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "teleop_twist_keyboard",
            "/teleop_twist_keyboard publishes cmd_vel: stop it, or name it in `navigators`",
        ),
        (
            "test_bed",
            "2 publishers of cmd_vel are named /test_bed: stop all but one",
        ),  # the navigator's own name
    ],
)
def test_a_second_writer_beside_the_navigator_makes_the_robot_stand_and_is_named(world, name, told):
    goal = world.drive()
    world.nav.mode = "silent" if name == "test_bed" else "drive"
    context = rclpy.Context()
    context.init()
    keyboard = Node(name, context=context)
    keys = keyboard.create_publisher(Twist, "cmd_vel", qos.COMMAND)
    twist = Twist()
    twist.linear.x = 0.9
    try:
        heard = lambda: [one.linear.x for _, one in world.bed.heard["cmd_vel_out"]]  # noqa: E731
        named = lambda: told in world.bed.diagnosis("motion_gate").get("message", "")  # noqa: E731
        wait_for(lambda: keys.publish(twist) or named(), "who it is", every=0.05)
        wait_for(lambda: keys.publish(twist) or not any(heard()[-5:]), "the robot stands", every=0.05)
        for _ in range(20):
            keys.publish(twist)
            time.sleep(0.05)
        assert max(heard()) < 0.9, "not one of its velocities passes"
        assert not any(heard()[-5:])
        world.bed.until(named, "who it is")
    finally:
        keyboard.destroy_node()
        context.try_shutdown()
    world.bed.until(world.moving, "it drives on")
    goal.cancel()


def test_a_joystick_passes_no_hold(world):
    bed = world.bed
    stick = bed.on_executor(lambda: bed.node.create_publisher(Twist, "cmd_vel_joy", qos.COMMAND))
    bed.until_heard(stick)
    assert bed.call(SetBool, "motion_gate/hold", SetBool.Request(data=True)).success
    bed.forget("cmd_vel_out")
    twist = Twist()
    twist.linear.x = 0.5
    for _ in range(20):
        stick.publish(twist)
        time.sleep(0.05)
    assert not world.last_nonzero()
    bed.on_executor(lambda: bed.node.destroy_publisher(stick))
