"""False proposals among those of an expert, and the tables of experts that change."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestar.experts.protocol import Proposal, ProposalRequest, Rejection, RejectionReason
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.grammar import parse_directive
from lodestar_eval.expert_quality import (
    FALSENESS,
    PHASES,
    FalseWitness,
    falseness_in,
    phase_bars,
    phase_metrics,
    phase_of,
    phase_table,
)

GRID = OccupancyGrid2D(np.zeros((160, 160), np.int8), 0.1, (0.0, 0.0))


def request(epoch: int, pose=(8.0, 8.0, 0.0), excluded=(), errand: int = 1) -> ProposalRequest:
    return ProposalRequest(
        epoch,
        float(epoch),
        parse_directive("find a chair"),
        0,
        np.array(pose),
        excluded_goals=excluded,
        errand=errand,
    )


def own(epoch: int) -> Rejection:
    return Rejection("ego_vlm", epoch, RejectionReason.NO_PROPOSAL, "nothing in view")


def test_an_expert_of_whom_nothing_is_said_answers_for_itself():
    witness = FalseWitness({"ego_vlm": 1.0}, 3)
    answer = Rejection("frontier", 1, RejectionReason.EXPLORED, "done")
    assert witness.answer("frontier", request(1), answer, GRID) is answer


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_a_false_place_can_be_reached_and_is_claimed_until_the_robot_was_there(seed):
    witness = FalseWitness({"ego_vlm": 1.0}, seed)
    first = witness.answer("ego_vlm", request(1), own(1), GRID)
    again = witness.answer("ego_vlm", request(2), own(2), GRID)
    assert isinstance(first, Proposal) and isinstance(again, Proposal)
    assert first.value is not None and first.entity_id == 0
    assert again.epoch == 2 and (again.goal == first.goal).all()
    away = float(np.linalg.norm(first.goal[:2] - [8.0, 8.0]))
    assert 1.5 < away <= 10.0
    there = witness.answer("ego_vlm", request(3, pose=tuple(first.goal)), own(3), GRID)
    assert isinstance(there, Proposal) and np.linalg.norm(there.goal[:2] - first.goal[:2]) > 1.0


def test_a_place_that_is_left_out_or_of_another_errand_is_claimed_no_more():
    witness = FalseWitness({"ego_vlm": 1.0}, 5)
    first = witness.answer("ego_vlm", request(1), own(1), GRID)
    left_out = witness.answer("ego_vlm", request(2, excluded=(tuple(first.goal),)), own(2), GRID)
    assert (left_out.goal != first.goal).any()
    other = witness.answer("ego_vlm", request(3, errand=2), own(3), GRID)
    assert (other.goal != left_out.goal).any()


def test_a_claim_begins_by_the_chance_that_was_asked_for():
    false = 0
    for seed in range(400):
        answer = FalseWitness({"ego_vlm": 0.3}, seed).answer("ego_vlm", request(1), own(1), GRID)
        false += isinstance(answer, Proposal)
    assert 0.22 < false / 400 < 0.38  # four standard deviations


def test_where_nothing_can_be_reached_it_answers_for_itself():
    walled = np.zeros((160, 160), np.int8)
    walled[75:86, 75] = walled[75:86, 85] = walled[75, 75:86] = walled[85, 75:86] = 100
    witness = FalseWitness({"ego_vlm": 1.0}, 1)
    grid = OccupancyGrid2D(walled, 0.1, (0.0, 0.0))
    assert isinstance(witness.answer("ego_vlm", request(1), own(1), grid), Rejection)


def test_phases_follow_each_other_and_know_kinds_of_buildings():
    assert [phase_of(n, 6) for n in range(6)] == [0, 0, 1, 1, 2, 2]
    assert len(FALSENESS) == len(PHASES)
    assert falseness_in("warehouse?ring=1", 0) == FALSENESS[0]["warehouse"]
    assert falseness_in("apartment", 0) == {}


class Done:
    def __init__(self, seed, duration, success=True):
        self.world, self.seed, self.duration, self.success = "office", seed, duration, success


def test_seconds_are_compared_by_building_and_a_failed_search_counts_with_its_limit():
    rows = {"ours": [Done(1, 10.0), Done(2, 20.0)], "rival": [Done(2, 50.0), Done(1, 30.0, success=False)]}
    metrics = phase_metrics(rows, {("office", 1): 0, ("office", 2): 1}, 600.0)
    assert metrics["seconds.rival.0"] == 600.0 and metrics["saved.rival"] == pytest.approx((590.0 + 30.0) / 2)
    assert math.isfinite(metrics["saved_low.rival"])
    table = phase_table(("ours", "rival"), metrics)
    assert [row[0] for row in table.rows] == ["ours", "rival"] and table.rows[1][4] == "nan"
    assert [bar.name for bar in phase_bars(metrics)] == ["saved_low.rival"]
