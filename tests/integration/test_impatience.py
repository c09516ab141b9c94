"""Goal selector and motion gate with little patience: what they do when somebody is too slow, or never comes."""

from __future__ import annotations

import pytest

from integration.fakes import FakeMemory
from integration.surroundings import IMPATIENT, World, another_place_each_time, chair, release_until_idle
from lodestar_interfaces.action import FollowDirective

Result = FollowDirective.Result


@pytest.fixture(scope="module")
def world(bed, processes, tmp_path_factory):
    world = World(bed, processes, tmp_path_factory.mktemp("decisions") / "decisions.jsonl")
    world.memory = bed.on_executor(lambda: FakeMemory(bed))
    processes.start("goal_selector", "motion_gate", parameters={"goal_selector": IMPATIENT})
    bed.next("goal_selector/heartbeat")
    world.robot.publish_grid()
    return world


@pytest.fixture(autouse=True)
def clean(world):
    world.reset()
    yield
    world.processes.assert_alive(besides=("goal_selector",))


def test_a_navigator_that_is_not_up(world):
    world.nav.down()
    world.experts["frontier"].goes_to(2.0, 0.0, 0.0)
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert result.error_code == Result.NAVIGATOR_UNAVAILABLE
    assert "navigat" in result.error_msg


def test_a_navigator_that_says_nothing_is_given_up(world):
    world.nav.mode = "silent"
    frontier = world.experts["frontier"]
    frontier.answer = another_place_each_time(frontier)
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert result.error_code == Result.NAVIGATION_FAILED
    assert result.epochs > 1, "it tried other goals first"
    assert "silent" in result.error_msg


def test_a_memory_that_is_too_slow_has_a_code_and_the_next_step_is_done(world):
    world.memory.answer = lambda question: None
    world.nav.mode = "arrive"
    result = world.follow.result(
        FollowDirective.Goal(text="where did you last see the red mug, then go to x=0.1 y=0")
    )
    assert result.error_code == Result.CANNOT_ANSWER and "did not answer within 3 s" in result.error_msg
    assert "I stand at (0.1, 0.0)." in result.report
    world.bed.until(lambda: world.memory.cancelled, "the memory hears that nobody waits")


def test_no_expert_proposes_anything(world):
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert result.error_code == Result.NO_EXPERT
    assert "nothing to propose" in result.error_msg


def test_an_expert_that_never_answers_does_not_hold_up_the_others(world):
    world.experts["ego_vlm"].answer = lambda request: None
    started = world.now()
    goal = world.drive("find the blue lamp")
    world.assert_soon(started, 10.0)

    def decision():
        made = world.bed.last("goal_selector/decision")
        return made is not None and "blue lamp" in made.directive and made

    decided = world.bed.until(decision, "the decision")
    goal.cancel()
    arm = next(arm for arm in decided.arms if arm.expert == "ego_vlm")
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
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert not result.success
    assert result.error_code in (Result.TARGET_NOT_CONFIRMED, Result.TARGET_NOT_FOUND)


def test_without_a_pose_it_says_so(world):
    """The newest transform stays known: this has to be asked of a fresh selector."""
    world.robot.transforms = False
    world.processes.kill("goal_selector")
    world.processes.starter.start_one("goal_selector")
    world.beat(lambda beat: beat.held)  # it comes back held
    release_until_idle(world.bed)
    world.robot.publish_grid()
    result = world.follow.result(FollowDirective.Goal(text="find the red chair"))
    assert result.error_code in (Result.TF_ERROR, Result.NO_MAP)
    assert result.error_msg
