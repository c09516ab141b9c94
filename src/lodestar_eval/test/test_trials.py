"""The same task under several policies: rows, files, and what is learned elsewhere."""

from __future__ import annotations

import argparse

import numpy as np
import pytest
from embedders import SingleLetters

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
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.trials import (
    COLD,
    CONTINUAL,
    LED,
    UNDELAYED,
    WARM,
    Building,
    Plan,
    learn,
    policy_named,
    run_building,
    run_buildings,
)

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_model(monkeypatch):
    monkeypatch.setattr("lodestar_eval.phrase_book.phrase_book", lambda: PhraseBook(SingleLetters()))


SHORT = EpisodeSettings(time_limit=6.0, thinking=0.05)


def test_what_was_learned_elsewhere_is_where_the_warm_bandit_begins():
    state = learn(Plan(SHORT), [Building("apartment", 7)])
    before = [np.array(state["response"]).copy(), np.array(state["inverse"]).copy()]
    shipped, cold, warm = (
        policy_named(name, state)(np.random.default_rng(5)) for name in ("bandit", COLD, WARM)
    )
    assert not np.allclose(warm.weights, shipped.weights)
    assert np.allclose(warm.response, state["response"]) and not cold.weights.any()
    assert warm.rng.bit_generator.state == np.random.default_rng(5).bit_generator.state
    warm.update(np.ones(len(warm.names)), 0, 1.0)
    assert np.array_equal(before[0], state["response"]) and np.array_equal(before[1], state["inverse"])


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
    assert log.exists() == (expert != "semantic_map")  # which has nothing to say in a building nobody knows
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


def test_a_warm_start_is_learned_of_the_features_it_is_used_with(tmp_path):
    settings = changed(
        SHORT, robot__goal_selector__selection=SelectionConfig(features="app_a", reward="sequence")
    )
    state = learn(Plan(settings), [Building("apartment", 7)])
    warm = policy_named(WARM, state, settings.robot.goal_selector.selection)(np.random.default_rng(5))
    assert warm.names == feature_names("app_a", expert_names())
    with pytest.raises(ValueError, match="features"):
        policy_named(WARM, state)(np.random.default_rng(5))


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
        ran.append((building.seed, policies, selector and selector(np.random.default_rng(0))))
        return [(building.seed, policy) for policy in policies]

    monkeypatch.setattr(trials, "worker_pool", lambda jobs: ThreadPoolExecutor(jobs))
    monkeypatch.setattr(trials, "_run_rows", run_rows)
    plan = Plan(SHORT, policies=("bandit", CONTINUAL, f"{CONTINUAL}{UNDELAYED}"), folder=tmp_path)
    found = [
        one
        for outcomes in run_buildings(plan, [Building("apartment", s) for s in (3, 1, 2)], 2)
        for one in outcomes
    ]
    assert sorted(found) == sorted((seed, policy) for seed in (1, 2, 3) for policy in plan.policies)
    chains = {
        row: [(seed, kept) for seed, policies, kept in ran if policies == (row,)] for row in plan.policies[1:]
    }
    for chain in chains.values():
        assert [seed for seed, _ in chain] == [3, 1, 2] and len({id(kept) for _, kept in chain}) == 1
    assert len({id(chain[0][1]) for chain in chains.values()}) == 2, "rows learn apart from each other"


class Kept:
    """Makes what a class makes, and keeps the last."""

    def __init__(self, kind):
        self.kind = kind

    def __call__(self, *args):
        self.last = self.kind(*args)
        return self.last


def test_the_report_compares_the_rows(tmp_path):
    parser = argparse.ArgumentParser()
    BENCHMARK.add_options(parser)
    words = ["--policies", "bandit,frontier", "--seeds", "7", "--limit-time", "5", "--answer-time", "0.05"]
    options = parser.parse_args([*words, "--world", "apartment", "--log", str(tmp_path / "all.jsonl")])
    lines: list[str] = []
    result = BENCHMARK.run(options, tmp_path, lines.append)
    assert {"sr.unexplored.bandit", "spl.unexplored.frontier", "spl.unexplored.bandit_minus_frontier"} <= set(
        result.metrics
    )
    assert result.tables[0].title == "Success by setting and policy" and len(result.tables[0].rows) == 2
    assert len(lines) == 2 and (tmp_path / "paths.png").stat().st_size > 10_000
    assert list(read_decisions(tmp_path / "all.jsonl"))
    assert all((tmp_path / plot.file).exists() for plot in result.plots)
