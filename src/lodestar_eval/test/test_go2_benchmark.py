"""Tests of the Go2 benchmark: counts of commands that bypass the gate, and of seeds that reached the target."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("unitree_api", reason="the workspace is not built")

from lodestar_bringup.places import StackError
from lodestar_eval.live.command_watch import ID_BLOCK, RequestOrder
from lodestar_eval.live.go2_run import Go2Run
from lodestar_eval.registry import Result
from lodestar_eval.studies import go2
from lodestar_go2 import sport

MOVE, STOP = 1008, 1003


def order_of(*identities: int) -> RequestOrder:
    order = RequestOrder()
    for identity in identities:
        order.take(identity, MOVE)
    return order


def test_the_watch_counts_in_the_blocks_of_the_base() -> None:
    assert ID_BLOCK == sport.ID_BLOCK


def test_the_requests_of_base_and_guard_follow_one_another() -> None:
    assert order_of(1, 2, 3, -1, 4, -2, 5).strange == 0
    assert order_of(17, 18, 25).strange == 0, "heard late, and some were lost"
    assert order_of(40, 41, 1, 2).strange == 0, "the base was started again"
    block = 7_000_000 * ID_BLOCK
    assert order_of(40, 41, block + 1, block + 2).strange == 0, "in another block"
    assert order_of(-8, -9, -1, -2).strange == 0, "the guard was started again"


@pytest.mark.parametrize(
    "identities",
    [(1, 2, 0), (1, 2, 2), (5, 6, 4), (1, 2, 1_795_491_778), (-3, -4, -2), (-3, -4, -1 - ID_BLOCK)],
)
def test_a_request_of_somebody_else_is_counted(identities: tuple[int, ...]) -> None:
    assert order_of(*identities).strange == 1


def run(seed: int, success: bool = True, strange: int = 0, strangers: tuple[str, ...] = ()) -> Go2Run:
    return Go2Run(seed, "find the chair", success, "", 20.0, 60.0, 5.0, 0, 100, strange, strangers)


def result_of(runs: list[Go2Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *died: int) -> Result:
    """Return the result of runs, and of seeds whose stack did not come up."""

    def run_beside(world: str, seed: int, *_: object) -> Go2Run:
        if seed in died:
            raise StackError("sim died\nat once")
        return next(one for one in runs if one.seed == seed)

    monkeypatch.setattr("lodestar_eval.live.go2_run.run_beside", run_beside)
    seeds = sorted([*died, *(one.seed for one in runs)])
    return go2.BENCHMARK.result(
        [row for seed in seeds for row in go2._measure("apartment", seed, 9.0, tmp_path)]
    )


def test_nine_of_ten_seeds_and_nothing_past_the_gate_hold(tmp_path, monkeypatch) -> None:
    runs = [run(seed, success=seed != 3) for seed in range(1, 11)]
    assert all(bar.holds for bar in result_of(runs, tmp_path, monkeypatch).bars)
    result = result_of(runs[1:], tmp_path, monkeypatch, 1)
    assert not result.bars[0].holds, "a stack that did not come up counts"
    assert result.tables[-1].rows[0][-1] == "sim died"


@pytest.mark.parametrize("intruded", [run(1, strange=1), run(1, strangers=("/twist_mux on cmd_vel_out",))])
def test_one_command_or_publisher_past_the_gate_misses_the_bar(
    intruded: Go2Run, tmp_path, monkeypatch
) -> None:
    assert not result_of([intruded], tmp_path, monkeypatch).bars[1].holds


def test_one_finding_of_the_doctor_misses_its_bar_and_is_told(tmp_path, monkeypatch) -> None:
    assert result_of([run(1)], tmp_path, monkeypatch).bars[2].holds
    found = result_of([run(1), replace(run(2), findings=("no clouds on points.",))], tmp_path, monkeypatch)
    assert not found.bars[2].holds and found.metrics["starts_with_findings"] == 1.0
    assert ["no clouds on points." in row[-2] for row in found.tables[0].rows] == [False, True]
