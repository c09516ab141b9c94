"""Goal selector and motion gate as processes, between a fake navigator, fake experts and a fake base."""

from __future__ import annotations

import time

import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Twist
from sensor_msgs.msg import CompressedImage
from std_srvs.srv import SetBool

from integration.commands import Command
from integration.surroundings import TIMES, World, another_place_each_time, chair
from lodestar.selection.decisions import Decision, Outcome
from lodestar.worldmodel.decision_log import read_records
from lodestar.worldmodel.records import Trace
from lodestar_interfaces.action import FollowDirective
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


# --- directives that are not begun ---------------------------------------------------------------------


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


def test_why_explains_the_goal_that_is_driven_to_and_the_trace_names_the_decision(world, domain):
    goal = world.drive()
    said = "goal_selector/traces"
    trace = world.bed.until(lambda: world.bed.last(said), "the trace")
    decision = world.bed.last("goal_selector/decision")
    assert (trace.id, trace.proposer) == (decision.trace_id, decision.chosen)
    asked = Command("lodestar_ros.why", environment={"ROS_DOMAIN_ID": str(domain)})
    assert asked.ends() == 0, asked.text
    assert '"find the red chair", decision' in asked.text
    assert f"did        look around from (2.0, 0.0) ({trace.proposer}" in asked.text
    goal.cancel()
    assert goal.result().error_code == Result.CANCELLED


# --- stopping ------------------------------------------------------------------------------------------


def test_cancel_stops_the_robot(world):
    goal = world.drive("find the red chair; keep away from the desk")
    said = "goal_selector/directive"
    followed = world.bed.until(lambda: world.bed.last(said), "what is followed")
    assert [one.item.text for one in followed.constraints] == ["desk"]
    moment = time.monotonic()
    goal.cancel()
    assert goal.result().error_code == Result.CANCELLED
    world.bed.until(
        lambda: not world.bed.last(said).subtasks, "the end of the directive is said, and of its zones"
    )
    assert goal.status == GoalStatus.STATUS_CANCELED
    world.assert_stops_after(moment)
    assert world.nav.cancelled >= 1


def test_cancel_stops_the_robot_even_if_the_navigator_does_not_care(world):
    goal = world.drive()
    world.nav.mode = "ignore"
    moment = time.monotonic()
    goal.cancel()
    world.assert_stops_after(moment)


@pytest.mark.parametrize("server", ["goal_selector/hold", "motion_gate/hold"])
def test_hold_stops_the_robot_and_latches(world, server):
    goal = world.drive()
    world.nav.mode = "ignore"
    moment = time.monotonic()
    assert world.bed.call(SetBool, server, SetBool.Request(data=True)).success
    world.assert_stops_after(moment)
    assert goal.result().error_code == Result.HELD
    refused = world.follow.result(FollowDirective.Goal(text="find the desk"))
    assert refused.error_code == Result.HELD, "nothing begins while held"
    assert not world.moving()
    world.bed.call(SetBool, server, SetBool.Request(data=True))
    assert world.bed.next("goal_selector/heartbeat").held, "a second hold does not toggle"


def test_a_joystick_takes_over_and_the_robot_stands_held_once_it_is_let_go(world):
    bed = world.bed
    stick = bed.on_executor(lambda: bed.node.create_publisher(Twist, "cmd_vel_joy", qos.COMMAND))
    bed.until(lambda: stick.get_subscription_count(), "the gate hears the joystick")
    goal = world.drive()
    world.nav.mode = "ignore"  # its velocities go on
    back = Twist()
    back.linear.x = -0.25
    for _ in range(20):
        stick.publish(back)
        time.sleep(0.05)
    moment = time.monotonic()
    driven = [twist.linear.x for at, twist in bed.heard["cmd_vel_out"] if moment - 0.7 < at < moment]
    assert driven and set(driven) == {-0.25}, "nothing of the navigator's passes meanwhile"
    world.assert_stops_after(moment)
    assert goal.result().error_code == Result.HELD
    bed.on_executor(lambda: bed.node.destroy_publisher(stick))


def test_a_pause_stops_the_robot_and_the_directive_goes_on_afterwards(world):
    pause = "goal_selector/pause"
    nothing = world.bed.call(SetBool, pause, SetBool.Request(data=True))
    assert not nothing.success and nothing.message == "no directive runs"
    goal = world.drive()
    moment = time.monotonic()
    assert world.bed.call(SetBool, pause, SetBool.Request(data=True)).success
    world.assert_stops_after(moment)
    assert not goal.future.done(), "the directive is kept"
    assert world.bed.call(SetBool, pause, SetBool.Request(data=False)).success
    world.bed.until(world.moving, "it drives on")
    goal.cancel()
    assert goal.result().error_code == Result.CANCELLED


def test_the_gate_stands_while_another_publishes_past_it(world):
    """Whatever the base's driver is: go2_base would refuse too, but it does not always run."""
    bed = world.bed
    goal = world.drive()
    past = bed.on_executor(lambda: bed.node.create_publisher(Twist, "cmd_vel_out", qos.COMMAND))
    bed.until(lambda: "past motion_gate" in bed.diagnosis("motion_gate").get("blocked", ""), "who it is")
    assert "/test_bed publishes velocities" in bed.diagnosis("motion_gate")["message"]
    world.assert_stops_after(time.monotonic())
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
    world.bed.next("goal_selector/heartbeat", lambda beat: beat.held and beat.state == "HELD")
    assert not world.moving(), "a selector that came back has no directive"


def test_a_goal_selector_that_came_back_is_held_until_a_person_releases_it(world):
    world.drive()
    world.processes.kill("goal_selector")
    world.processes.starter.start_one("goal_selector")
    world.bed.next("goal_selector/heartbeat", lambda beat: beat.held and beat.state == "HELD")
    world.bed.until(lambda: not world.nav.driving, "the goal of the one that died is taken back")
    refused = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert refused.error_code == Result.HELD, "nothing begins while held"
    world.bed.until(
        lambda: "goal_selector died" in world.bed.diagnosis("motion_gate")["message"], "the gate says why"
    )
    world.nav.mode = "ignore"  # velocities come all the same
    world.bed.forget("cmd_vel_out")
    world.bed.next("cmd_vel_out")
    assert not world.last_nonzero()
    world.nav.mode = "drive"
    assert world.bed.call(SetBool, "motion_gate/hold", SetBool.Request(data=False)).success
    world.bed.next("goal_selector/heartbeat", lambda beat: beat.state == "IDLE")
    world.drive().cancel()


# --- the navigator -------------------------------------------------------------------------------------


def test_a_navigator_that_is_not_up(world):
    world.nav.down()
    world.experts["frontier"].goes_to(2.0, 0.0, 0.0)
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert result.error_code == Result.NAVIGATOR_UNAVAILABLE
    assert "navigat" in result.error_msg


@pytest.mark.parametrize("mode", ["abort", "reject", "silent"])
def test_a_navigator_that_never_gets_there(world, mode):
    world.nav.mode = mode
    frontier = world.experts["frontier"]
    frontier.answer = another_place_each_time(frontier)
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"), timeout=60.0)
    assert result.error_code == Result.NAVIGATION_FAILED
    assert result.epochs > 1, "it tried other goals first"
    assert {"abort": "no valid path", "reject": "rejected", "silent": "silent"}[mode] in result.error_msg


# --- experts, map, time --------------------------------------------------------------------------------


def test_nothing_left_to_explore(world):
    world.experts["frontier"].answer = world.experts["frontier"].explored
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert result.error_code == Result.TARGET_NOT_FOUND


def test_no_expert_proposes_anything(world):
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert result.error_code == Result.NO_EXPERT
    assert "nothing to propose" in result.error_msg


def test_an_expert_that_never_answers_does_not_hold_up_the_others(world):
    world.experts["ego_vlm"].answer = lambda request: None
    started = time.monotonic()
    goal = world.drive()
    assert time.monotonic() - started < 10.0
    goal.cancel()
    decision = world.bed.last("goal_selector/decision")
    arm = next(arm for arm in decision.arms if arm.expert == "ego_vlm")
    assert not arm.admissible
    assert arm.reason


def test_who_thinks_for_long_is_asked_once_and_heard_late(world):
    ego, frontier = world.experts["ego_vlm"], world.experts["frontier"]
    ego.answer = lambda request: None
    frontier.answer = another_place_each_time(frontier)
    goal = world.follow.send(FollowDirective.Goal(text="find the red chair"))
    for count in (1, 2, 3):
        world.bed.until(lambda n=count: len(frontier.requests) >= n and world.nav.driving, "it drives")
        world.nav.arrive()
    assert len(ego.requests) == 1, "who thinks is not asked again"
    world.bed.until(lambda: world.nav.driving, "it drives on")
    said = "goal_selector/decision"
    world.bed.forget(said)  # the next decision may come before the arrival: the explorer's goals are reviewed
    world.bed.on_executor(lambda: ego.speak(0.5, 1.0, 0.0))
    world.nav.arrive()

    def with_ego():
        decisions = [decision for _, decision in world.bed.heard[said]]
        return [d for d in decisions if any(a.expert == "ego_vlm" and a.admissible for a in d.arms)]

    decision = world.bed.until(with_ego, "a decision with the late answer")[0]
    arm = next(arm for arm in decision.arms if arm.expert == "ego_vlm")
    assert arm.proposal.epoch == ego.requests[0].epoch < decision.epoch
    goal.cancel()


def test_the_time_limit_ends_it(world):
    goal = FollowDirective.Goal(text="find the red chair")
    goal.time_limit.sec = 2
    world.experts["frontier"].goes_to(2.0, 0.0, 0.0)
    sent = world.follow.send(goal)
    assert sent.result().error_code == Result.TIME_LIMIT
    world.assert_stops_after(time.monotonic())


def test_feedback_comes_twice_a_second_and_says_what_is_done(world):
    goal = world.drive()
    world.bed.until(lambda: len(goal.feedback) >= 5, "feedback")
    times = [at for at, _ in goal.feedback]
    assert (times[-1] - times[0]) / (len(times) - 1) == pytest.approx(0.5, abs=0.2)
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
    records = list(read_records(world.log))
    decisions = [record for record in records if isinstance(record, Decision)]
    traces = {record.id for record in records if isinstance(record, Trace)}
    process = decisions[-1].trace_id.partition("-")[
        0
    ]  # one that was killed before may have left half of its records
    mine = {one.trace_id for one in decisions if one.trace_id.startswith(process)}
    assert mine <= traces, "every decision that was driven has its trace"
    assert (decisions[-1].outcome, decisions[-1].chosen) == (Outcome.REACHED, "semantic_map")
    assert sum(arm.propensity for arm in decisions[-1].arms) == pytest.approx(1.0)
    assert decisions[-1].epoch in {one.epoch for one in decisions if one.outcome is Outcome.PENDING}


def test_a_target_that_is_not_there_on_arrival_is_not_claimed(world):
    world.robot.pose = (0.55, 0.0, 0.0)
    world.see(chair(8, (1.5, 0.0), 2.0))
    world.entities.pop(7, None)
    semantic, frontier = world.experts["semantic_map"], world.experts["frontier"]
    frontier.answer = frontier.explored

    def unless_excluded(request):
        if 8 in request.excluded_entities:
            return semantic.nothing(request)
        semantic.goes_to(0.55, 0.0, 0.0, entity_id=8)
        answer = semantic.answer(request)
        semantic.answer = unless_excluded
        return answer

    semantic.answer = unless_excluded
    world.nav.mode = "arrive"
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"), timeout=60.0)
    assert not result.success
    assert result.error_code in (Result.TARGET_NOT_CONFIRMED, Result.TARGET_NOT_FOUND)


# --- what never came -----------------------------------------------------------------------------------


def test_without_a_pose_it_says_so(world):
    """The newest transform stays known: this has to be asked of a fresh selector."""
    world.robot.transforms = False
    world.processes.kill("goal_selector")
    world.processes.starter.start_one("goal_selector")
    world.bed.next("goal_selector/heartbeat", lambda beat: beat.held)  # it comes back held
    assert world.bed.call(SetBool, "motion_gate/hold", SetBool.Request(data=False)).success
    world.bed.next("goal_selector/heartbeat", lambda beat: beat.state == "IDLE")
    world.robot.publish_grid()
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert result.error_code in (Result.TF_ERROR, Result.NO_MAP)
    assert result.error_msg
