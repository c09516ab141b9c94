"""Tests of navigator error codes, some of which give information about the path."""

import pytest

from lodestar.agent.facts.errors import is_controller_stuck, is_planner_refusal


@pytest.mark.parametrize("code", [100, 103, 104, 105, 106])
def test_a_controller_that_could_not_move_the_robot_is_stuck(code):
    assert is_controller_stuck(code) and not is_planner_refusal(code)


@pytest.mark.parametrize("code", [200, 203, 205, 208])
def test_a_planner_that_found_no_way_refuses(code):
    assert is_planner_refusal(code) and not is_controller_stuck(code)


@pytest.mark.parametrize("code", [0, 101, 102, 107, 201, 202, 204, 206, 207, 703, 714, 9000, 9002, 9003])
def test_a_late_server_a_missing_pose_and_a_bad_goal_say_nothing_of_the_way(code):
    assert not is_controller_stuck(code) and not is_planner_refusal(code)
