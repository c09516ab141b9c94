"""Tests of the command `replay-log`: tables if the log supports a policy, one clear error line if not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lodestar.selection.context import FEATURES
from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar.selection.policies import make_policy
from lodestar.worldmodel.decision_log import DecisionLog
from lodestar_eval.__main__ import main

ARMS = ("frontier", "semantic_map", "ego_vlm")


def decisions(count, seed=0, mixing=0.4):
    """Return decisions of an epsilon-greedy frontier policy; the semantic map earns 2, the others 1."""
    rng = np.random.default_rng(seed)
    for epoch in range(1, count + 1):
        p = (1.0 - mixing) * np.eye(3)[0] + mixing / 3.0
        arm = int(rng.choice(3, p=p))
        context = {name: float(rng.random()) for name in FEATURES}
        arms = tuple(ArmRecord(name, True, propensity=float(share)) for name, share in zip(ARMS, p))
        pending = Decision(epoch, float(epoch), f"find {epoch // 6}", 0, context, arms, ARMS[arm])
        yield pending
        total = (2.0 if arm == 1 else 1.0) + 0.2 * float(rng.normal())
        yield replace(pending, reward={"success": 0.0, "total": total}, outcome=Outcome.REACHED)


@pytest.fixture
def log(tmp_path):
    def write(*given):
        file = DecisionLog(tmp_path / "logs" / "decisions.jsonl")
        for decision in given:
            file.write(decision)
        return file.path

    return write


def run(*arguments):
    return main(["replay-log", *map(str, arguments)])


def test_a_log_with_support_gives_the_values_of_other_policies(log, tmp_path):
    out = tmp_path / "report"
    file = log(*decisions(600))
    assert run(file.parent, "--policy", "frontier,semantic_map", "--out", out) == 0
    metrics = json.loads((out / "replay-log.json").read_text())["metrics"]
    assert metrics["decisions"] == 600 and metrics["runs"] == 101
    assert metrics["doubly_robust.semantic_map"] == pytest.approx(2.0, abs=0.1)
    assert metrics["ips.frontier"] == pytest.approx(1.0, abs=0.15)
    assert 30.0 < metrics["effective.semantic_map"] < 600.0


def test_a_policy_without_support_is_refused_with_the_reason(log, tmp_path, capsys):
    file = log(*decisions(100, mixing=0.0))
    assert run(file, "--policy", "ego_vlm", "--out", tmp_path / "a") == 2
    assert "never picks there (first: ego_vlm at epoch 1)" in capsys.readouterr().err
    assert run(file, "--policy", "frontier,ego_vlm", "--out", tmp_path / "b") == 0
    assert "never picks there" in (tmp_path / "b" / "replay-log.md").read_text()


def test_a_saved_state_is_judged_as_it_is(log, tmp_path, capsys):
    file, state = log(*decisions(300)), tmp_path / "policy.json"
    learner = make_policy("bandit", ARMS, FEATURES, np.random.default_rng(0), prior="cold")
    for _ in range(50):
        learner.update(np.ones(len(FEATURES)), 1, 5.0)
    learner.save(state)
    assert run(file, "--policy", "bandit", "--state", state, "--out", tmp_path / "a") == 0
    metrics = json.loads((tmp_path / "a" / "replay-log.json").read_text())["metrics"]
    assert metrics["doubly_robust.bandit"] == pytest.approx(2.0, abs=0.25)
    state.write_text("{}")
    assert run(file, "--policy", "bandit", "--state", state, "--out", tmp_path / "a") == 2
    assert "not a state for this policy" in capsys.readouterr().err


def judged_by(terms, given):
    """Return the decisions with these reward terms, where they have a reward."""
    for decision in given:
        reward = {**dict.fromkeys(terms, 0.0), **decision.reward} if decision.reward else {}
        yield replace(decision, reward=reward)


def test_a_saved_state_stands_for_its_own_policy_and_reward_only(log, tmp_path, capsys):
    file, state = log(*judged_by(("vlm", "not_reached"), decisions(300))), tmp_path / "policy.json"
    learned_by = {"features": "iv_a", "reward": "single"}
    make_policy("bandit", ARMS, FEATURES, np.random.default_rng(0), **learned_by).save(state)
    assert run(file, "--policy", "bandit,thompson", "--state", state, "--out", tmp_path / "a") == 0
    assert "learned by policy bandit" in (tmp_path / "a" / "replay-log.md").read_text()
    other = log(*judged_by(("discovery", "stuck"), decisions(300)))
    sequence = tmp_path / "sequence.jsonl"
    sequence.write_text("\n".join(Path(other).read_text().splitlines()[600:]) + "\n")
    capsys.readouterr()
    assert run(sequence, "--policy", "bandit", "--state", state, "--out", tmp_path / "b") == 2
    assert "reward sequence" in capsys.readouterr().err


def test_logs_of_one_reward_each_are_judged_by_its_rules_and_not_together(tmp_path, capsys):
    logs = tmp_path / "logs"
    for name, terms in (("sequence", ("discovery", "stuck")), ("single", ("vlm", "not_reached"))):
        file = DecisionLog(logs / f"{name}.jsonl")
        for one in judged_by(terms, decisions(200)):
            file.write(one)
        assert run(file.path, "--policy", "random", "--out", tmp_path / name) == 0
        page = (tmp_path / name / "replay-log.md").read_text()
        assert ("credited to the earlier decisions" in page) == (name == "sequence")
        assert "Policies that learn do so from the log" in page
    capsys.readouterr()
    assert run(logs, "--policy", "random", "--out", tmp_path / "both") == 2
    assert "judged by the reward 'single', those before by the reward 'sequence'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "policy", "says"),
    [("{\n", "frontier", "neither a decision"), ("", "frontier", "no decision with a reward"),
     ("", "oracle", "known: bandit")],
)  # fmt: skip
def test_what_is_no_log_and_no_policy_is_named(tmp_path, capsys, text, policy, says):
    (tmp_path / "log.jsonl").write_text(text)
    assert run(tmp_path / "log.jsonl", "--policy", policy, "--out", tmp_path / "out") == 2
    assert says in capsys.readouterr().err
    assert run(tmp_path / "nothing.jsonl", "--out", tmp_path / "out") == 2
