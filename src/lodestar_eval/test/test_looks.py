"""Tests of counts of images used for decisions, checked against the robot's true poses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lodestar.experts.protocol import Proposal
from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar_eval.looks import look_bars, looks_of

# the robot stands until 10 s, drives 1 m in 2 s, stands, and turns by a right angle from 14 s to 15 s
PATH = np.array(
    [
        (t, np.clip((t - 10.0) / 2.0, 0.0, 1.0), 0.0, np.clip(t - 14.0, 0.0, 1.0) * np.pi / 2)
        for t in np.arange(0, 20, 0.1)
    ]
)  # fmt: skip


def decision(stamp: float, view: float, stood: float = 0.0, **changes) -> Decision:
    proposal = Proposal("ego_vlm", 1, np.zeros(3), 0.5, "", view=view)
    arms = (ArmRecord("frontier", False), ArmRecord("ego_vlm", True, proposal=proposal))
    return Decision(1, stamp, "find it", 0, {}, arms, "ego_vlm", stood=stood, **changes)


@pytest.mark.parametrize(
    "view, stamp, own",
    [(5.0, 5.0, 1), (2.0, 9.0, 1), (9.0, 12.0, 0), (12.5, 13.0, 1), (13.0, 15.5, 0), (14.9, 17.0, 1)],
)
def test_an_image_is_the_decision_s_own_where_the_robot_has_stayed(view, stamp, own):
    assert looks_of([decision(stamp, view)], PATH)["own"] == own


def test_standing_and_use_are_counted_once_a_decision():
    done = [
        decision(3.0, 0.0, 0.1),
        decision(5.0, 5.0, 2.0),
        decision(5.0, 5.0, 2.0, outcome=Outcome.REACHED),
    ]
    counted = {"used": 1.0, "own": 1.0, "longest": 2.0, "stood": pytest.approx(2.1)}
    assert looks_of(done, PATH) == {**counted, "pictures": 0.0}
    chosen = [replace(one, evidence_keyframes=(7,)) for one in done]
    assert looks_of([*chosen, replace(chosen[0], chosen="frontier")], PATH)["pictures"] == 2.0
    assert looks_of([], PATH)["longest"] == 0.0


def test_the_bars_hold_of_a_slow_reasoner_alone():
    metrics = {"looks.own_share": 0.5, "looks.longest_s": 4.0}
    assert look_bars(metrics, 0.0) == () and [bar.holds for bar in look_bars(metrics, 2.0)] == [False, False]
