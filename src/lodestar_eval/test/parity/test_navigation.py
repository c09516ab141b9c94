"""The navigator of a recorded run is told again: goals end when and as they did."""

from __future__ import annotations

from action_msgs.msg import GoalStatus, GoalStatusArray

from lodestar.agent.commands import NavigationKind
from lodestar_eval.live.parity.navigation import LiveGoal, NavigationReplay, live_goals


def status(*pairs: tuple[int, int]) -> GoalStatusArray:
    array = GoalStatusArray()
    for key, code in pairs:
        entry = GoalStatus(status=code)
        entry.goal_info.goal_id.uuid = [key] * 16
        array.status_list.append(entry)
    return array


def test_goals_are_read_from_their_states():
    goals = live_goals(
        [
            (1.0, status((7, GoalStatus.STATUS_ACCEPTED))),
            (1.2, status((7, GoalStatus.STATUS_EXECUTING))),
            (4.0, status((7, GoalStatus.STATUS_SUCCEEDED))),
            (4.5, status((7, GoalStatus.STATUS_SUCCEEDED), (8, GoalStatus.STATUS_EXECUTING))),
        ]
    )
    assert [(g.accepted, g.ended, g.end) for g in goals] == [
        (1.0, 4.0, NavigationKind.SUCCEEDED),
        (4.5, float("inf"), None),
    ]


def test_a_goal_ends_when_the_live_one_did_even_if_it_was_sent_late():
    replay = NavigationReplay([LiveGoal(1.0, 4.0, NavigationKind.SUCCEEDED)])
    assert replay.send(3, now=4.2, decided=0.9).kind is NavigationKind.ACCEPTED
    event = replay.update(4.3, 1.0)
    assert (event.kind, event.epoch) == (NavigationKind.SUCCEEDED, 3)
    assert replay.update(4.4, 1.0) is None


def test_a_replaced_goal_does_not_fail():
    replay = NavigationReplay(
        [LiveGoal(1.0, 3.0, NavigationKind.ABORTED), LiveGoal(3.1, 6.0, NavigationKind.SUCCEEDED)]
    )
    replay.send(1, now=1.0, decided=0.9)
    assert replay.update(2.0, 5.0).kind is NavigationKind.FEEDBACK
    assert replay.update(3.05, 5.0) is None  # the robot drives on, to the next goal
    assert replay.update(6.1, 0.0).kind is NavigationKind.SUCCEEDED


def test_a_goal_that_failed_for_itself_fails():
    replay = NavigationReplay([LiveGoal(1.0, 3.0, NavigationKind.ABORTED)])
    replay.send(1, now=1.0, decided=None)
    assert replay.update(3.1, 5.0).kind is NavigationKind.ABORTED


def test_a_goal_that_is_taken_back_says_so_once():
    replay = NavigationReplay([LiveGoal(1.0, 3.0, NavigationKind.SUCCEEDED)])
    replay.send(1, now=1.0, decided=None)
    assert replay.cancel().kind is NavigationKind.CANCELED
    assert replay.cancel() is None
