"""Tests of tables II, III, IV and VIII of RoboAtlas, computed from decisions."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.experts.protocol import Proposal
from lodestar.selection.context import AREA
from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar_eval.arms import (
    Pick,
    allocation,
    components,
    distribution,
    normalized,
    picks_of,
    stage_rewards,
    stages_of,
)

ARMS = ("frontier", "semantic_map", "ego_vlm")


def pick(chosen: str, coverage: float, total: float = 1.0, contested: bool = True) -> Pick:
    return Pick(chosen, coverage, {"coverage_rate": total, "total": total}, contested)


def decision(epoch: int, outcome: Outcome, admissible: tuple[bool, ...] = (True, True, True)) -> Decision:
    proposal = Proposal("frontier", epoch, np.zeros(3), 0.5, "there")
    return Decision(
        epoch=epoch, stamp=1.0, directive="find it", subtask=0, context={"coverage": 0.9, AREA: 5.0 * epoch},
        arms=tuple(ArmRecord(name, ok, proposal=proposal) for name, ok in zip(ARMS, admissible)),
        chosen="frontier", outcome=outcome,
        reward={} if outcome is Outcome.PENDING else {"coverage_rate": 0.5, "total": 0.5},
    )  # fmt: skip


def test_the_last_record_of_an_epoch_counts_and_an_open_one_does_not():
    log = [decision(1, Outcome.PENDING), decision(1, Outcome.REACHED), decision(2, Outcome.PENDING)]
    assert [p.coverage for p in picks_of(log, floor=50.0)] == [pytest.approx(0.1)]
    assert picks_of(log, 50.0)[0].contested
    assert not picks_of([decision(1, Outcome.REACHED, (True, False, True))], 50.0)[0].contested


def test_stages_are_thirds_by_coverage():
    coverage = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert stages_of([pick("frontier", c) for c in reversed(coverage)]) == [2, 2, 1, 1, 0, 0]
    assert len(set(stages_of([pick("frontier", 0.5)] * 5))) == 1
    assert stages_of([]) == []


def test_shares_by_stage_and_of_contested_decisions():
    picks = [
        pick("frontier", 0.1), pick("frontier", 0.2, contested=False), pick("semantic_map", 0.4),
        pick("frontier", 0.5), pick("ego_vlm", 0.8), pick("ego_vlm", 0.9, contested=False),
    ]  # fmt: skip
    table = distribution(picks, ARMS)
    assert table.tolist() == [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    only = distribution([p for p in picks if p.coverage < 0.7], ARMS, contested=True)
    assert only[0].tolist() == [1.0, 0.0, 0.0]
    assert np.isnan(distribution([], ARMS)).all()


def test_rewards_by_stage_are_scaled_over_the_whole_table():
    picks = [pick("frontier", 0.1, 1.0), pick("frontier", 0.1, 3.0), pick("ego_vlm", 0.9, 6.0)]
    means, spreads = stage_rewards(picks, ARMS)
    assert means[0, 0] == 2.0 and spreads[0, 0] == 1.0 and np.isnan(means[0, 1])
    scaled, widths = normalized(means, spreads)
    assert np.nanmin(scaled) == 0.0 and np.nanmax(scaled) == 1.0 and widths[0, 0] == 0.25


def test_components_add_up_to_the_total():
    picks = [
        Pick("frontier", 0.1, {"coverage_rate": 1.0, "success": 0.0, "total": 1.0}, True),
        Pick("ego_vlm", 0.2, {"coverage_rate": 0.0, "success": 10.0, "total": 10.0}, True),
    ]
    table = components(picks)
    assert list(table) == ["coverage_rate", "success", "total"]
    assert table["total"] == (5.5, 4.5, 1.0)
    assert sum(table[name][2] for name in ("coverage_rate", "success")) == pytest.approx(1.0)
    assert components([]) == {}


def test_allocation_leaves_out_what_no_expert_drove():
    table = allocation({"frontier": 3, "ego_vlm": 1}, {"frontier": 6.0, "ego_vlm": 2.0, "": 4.0}, ARMS)
    assert table["frontier"] == (3, 0.75, 6.0, 0.75)
    assert table["semantic_map"] == (0, 0.0, 0.0, 0.0)
    assert np.isnan(allocation({}, {}, ARMS)["frontier"][1])
