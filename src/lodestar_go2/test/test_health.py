"""Tests of the robot's health texts, and of the detection of other commanders."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lodestar_go2.health import feet_in_words, warnings_of
from lodestar_go2.intruders import intrusion
from lodestar_go2.states import LowState, SportState


def low(**changes) -> LowState:
    given = {"tick": 1, "positions": np.zeros(12), "velocities": np.zeros(12), "torques": np.zeros(12)}
    return LowState(**(given | {"charge": 0.8, "temperatures": (40,) * 12} | changes))


def test_a_sound_robot_has_no_warnings() -> None:
    assert warnings_of(low()) == []
    assert warnings_of(None) == []


def test_each_trouble_is_told_in_words() -> None:
    hot = (40,) * 4 + (81,) + (40,) * 7
    told = warnings_of(low(charge=0.12, temperatures=hot))
    assert told == ["battery 12%", "hot motors: FL_thigh_joint 81 degrees"]


def test_feet_that_stand_are_named(state: Callable[..., SportState]) -> None:
    assert feet_in_words(state(0.0, foot_force=(60, 3, 55, 40))) == "FR RR RL"
    assert feet_in_words(state(0.0)) == "none"


def test_whoever_publishes_past_the_gate_is_named() -> None:
    assert "/joy, /twist_mux publishes velocities past motion_gate" in intrusion(["/joy", "/twist_mux"], [])
    assert "sends sport requests past go2_base" in intrusion([], ["/other"])
    assert intrusion([], []) == ""
