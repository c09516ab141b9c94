"""Tests of one task under several policies: rows, files, and kept states."""

from __future__ import annotations

import argparse
import itertools
from dataclasses import replace

import numpy as np
import pytest
from embedders import SingleLetters
from quick_episodes import QUICK

from lodestar.assembly.config import changed
from lodestar.experts.registry import expert_names
from lodestar.models.phrases import PhraseBook
from lodestar.selection.config import SelectionConfig
from lodestar.selection.context import feature_names
from lodestar.worldmodel.decision_log import read_decisions
from lodestar_eval import episode, trials
from lodestar_eval.arms import picks_of
from lodestar_eval.benchmarks.episodes import BENCHMARK
from lodestar_eval.off_policy import features_of
from lodestar_eval.trials import (
    COLD,
    CONTINUAL,
    LED,
    Building,
    Plan,
    policy_named,
    run_building,
    run_buildings,
)

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_model(monkeypatch):
    monkeypatch.setattr("lodestar_eval.phrase_book.phrase_book", lambda: PhraseBook(SingleLetters()))


SHORT = replace(QUICK, time_limit=6.0)


def test_a_cold_bandit_begins_without_the_packaged_prior():
    shipped, cold = (policy_named(name)(np.random.default_rng(5)) for name in ("bandit", COLD))
    assert shipped.weights.any() and not cold.weights.any()


def test_a_building_gives_a_row_per_policy_with_its_log_and_path(tmp_path):
    plan = Plan(SHORT, policies=("bandit", "random", "reference"), folder=tmp_path)
    outcomes = run_building(plan, Building("apartment", 7))
    assert [o.policy for o in outcomes] == ["bandit", "random", "reference"]
    assert len({o.shortest for o in outcomes}) == 1 and outcomes[0].world == "apartment"
    for policy in ("bandit", "random"):
        log = plan.file("decisions", "", "unexplored", policy, 7, ".jsonl")
        assert list(read_decisions(log))
        with np.load(plan.file("paths", "", "unexplored", policy, 7, ".npz")) as data:
            assert len(data["path"]) == len(data["drivers"]) > 0


@pytest.mark.parametrize("expert", expert_names())
def test_an_expert_alone_has_nobody_to_stand_in(tmp_path, expert):
    plan = Plan(SHORT, policies=(expert,), folder=tmp_path)
    run_building(plan, Building("apartment", 7))
    log = plan.file("decisions", "", "unexplored", expert, 7, ".jsonl")
    assert log.exists() == (expert != "semantic_map")  # an expert without proposals in an unknown building
    decisions = list(read_decisions(log)) if log.exists() else []
    assert all([arm.expert for arm in decision.arms] == [expert] for decision in decisions)


def test_the_geometric_rival_goes_to_what_is_known_and_guesses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(episode, "SimulatedRobot", (kept := Kept(episode.SimulatedRobot)))
    plan = Plan(SHORT, policies=(LED,), folder=tmp_path)
    run_building(plan, Building("apartment", 7))
    decisions = list(read_decisions(plan.file("decisions", "", "unexplored", LED, 7, ".jsonl")))
    assert {decision.chosen for decision in decisions} == {"frontier"}
    assert all(len(decision.arms) == 3 for decision in decisions)
    assert kept.last.headless.experts["frontier"]._belief is None


@pytest.mark.parametrize("policy", ["bandit", COLD, LED, "frontier", "thompson"])
def test_the_features_and_the_reward_of_appendix_a_are_those_of_every_row(tmp_path, policy):
    settings = changed(
        SHORT, robot__goal_selector__selection=SelectionConfig(features="app_a", reward="sequence")
    )
    plan = Plan(settings, policies=(policy,), folder=tmp_path)
    run_building(plan, Building("apartment", 7))
    (log,) = (tmp_path / "decisions").rglob("*.jsonl")
    decisions = list(read_decisions(log))
    arms = ("frontier",) if policy == "frontier" else expert_names()
    assert decisions and all(features_of(d) == ("app_a", feature_names("app_a", arms)) for d in decisions)
    paid = [decision.reward for decision in decisions if decision.reward]
    assert paid and all(
        {"discovery", "displacement"} <= set(reward) and "vlm" not in reward for reward in paid
    )
    assert len(picks_of(decisions, 100.0)) > 0


def test_a_continual_row_goes_on_from_building_to_building_with_what_it_learned(tmp_path):
    plan = Plan(SHORT, policies=(COLD, CONTINUAL), folder=tmp_path)
    buildings = [Building("apartment", 7), Building("apartment", 8)]
    found = list(run_buildings(plan, buildings, 1))
    assert [[(o.policy, o.seed) for o in outcomes] for outcomes in found] == [
        [(COLD, 7)], [(COLD, 8)], [(CONTINUAL, 7)], [(CONTINUAL, 8)],
    ]  # fmt: skip

    def first(policy: str, seed: int):
        log = plan.file("decisions", "", "unexplored", policy, seed, ".jsonl")
        return next(iter(read_decisions(log)))

    def estimates(decision):
        return [arm.estimate for arm in decision.arms if arm.admissible]

    assert not any(estimates(first(COLD, 8))) and not any(estimates(first(CONTINUAL, 7)))
    assert any(estimates(first(CONTINUAL, 8))), "the arms that were picked in building 7"


def test_rows_that_learn_run_beside_the_others_and_every_building_comes_once(tmp_path, monkeypatch):
    from concurrent.futures import ThreadPoolExecutor

    ran = []

    def run_rows(plan, building, settings, policies, selector=None):
        kept = selector and selector(np.random.default_rng(0))
        ran.extend((building.seed, setting, policy, kept) for setting in settings for policy in policies)
        return [(building.seed, setting, policy) for setting in settings for policy in policies]

    monkeypatch.setattr(trials, "worker_pool", lambda jobs: ThreadPoolExecutor(jobs))
    monkeypatch.setattr(trials, "_run_rows", run_rows)
    plan = Plan(
        SHORT, settings=("unexplored", "pre_explored"), policies=("bandit", CONTINUAL), folder=tmp_path
    )
    found = [
        one
        for outcomes in run_buildings(plan, [Building("apartment", s) for s in (3, 1, 2)], 2)
        for one in outcomes
    ]
    assert sorted(found) == sorted(itertools.product((1, 2, 3), plan.settings, plan.policies))
    chains = {
        row: [(seed, kept) for seed, setting, policy, kept in ran if (setting, policy) == row]
        for row in plan.chains
    }
    for chain in chains.values():
        assert [seed for seed, _ in chain] == [3, 1, 2] and len({id(kept) for _, kept in chain}) == 1
    assert len({id(chain[0][1]) for chain in chains.values()}) == 2, "rows learn apart from each other"


class Kept:
    """Factory that keeps the last object it made."""

    def __init__(self, kind):
        self.kind = kind

    def __call__(self, *args):
        self.last = self.kind(*args)
        return self.last


def test_the_report_compares_the_rows(tmp_path):
    parser = argparse.ArgumentParser()
    BENCHMARK.add_options(parser)
    words = ["--policies", "bandit,frontier", "--seeds", "7", "--limit-time", "5", "--answer-time", "0.05"]
    options = parser.parse_args([*words, "--world", "apartment"])
    lines: list[str] = []
    result = BENCHMARK.run(options, tmp_path, lines.append)
    assert {"sr.unexplored.bandit", "spl.unexplored.frontier", "spl.unexplored.bandit_minus_frontier"} <= set(
        result.metrics
    )
    assert result.tables[0].title == "Success by setting and policy" and len(result.tables[0].rows) == 2
    assert len(lines) == 2 and (tmp_path / "paths.png").stat().st_size > 10_000
    assert all(list(read_decisions(file)) for file in (tmp_path / "decisions").rglob("*.jsonl"))
    assert all((tmp_path / plot.file).exists() for plot in result.plots)
