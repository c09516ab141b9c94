"""Tests of off-policy estimates on a synthetic bandit with known true values."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.selection.context import FEATURES
from lodestar.selection.decisions import ArmRecord, Decision, Outcome
from lodestar.selection.policies import make_policy
from lodestar.selection.reward import SequenceReward
from lodestar_eval.off_policy import NoSupport, Sample, decay_of, evaluate, features_of, reward_of, samples_of

ARMS = ("frontier", "semantic_map", "ego_vlm")
NAMES = ("bias", "coverage")
WEIGHTS = np.array([[1.0, -1.0], [0.2, 1.0], [0.4, 0.0]])  # true reward per arm and feature


def logged(rng, count, mixing=0.3, bent=0.0, per_run=5):
    """Return decisions of an epsilon-greedy logger that prefers the frontier. bent: strength of a nonlinear term."""
    samples = []
    for index in range(count):
        x = np.array([1.0, rng.random()])
        admissible = np.array([True, rng.random() < 0.7, rng.random() < 0.7])
        propensities = (1.0 - mixing) * np.eye(3)[0] + mixing * admissible / admissible.sum()
        arm = int(rng.choice(3, p=propensities))
        reward = WEIGHTS[arm] @ x + bent * np.sin(12.0 * x[1]) + 0.3 * rng.normal()
        samples.append(
            Sample(index, index // per_run, np.repeat(x[None], 3, 0), admissible, arm, propensities, reward)
        )
    return samples


def policy(name, **options):
    return make_policy(name, ARMS, NAMES, np.random.default_rng(0), **options)


def true_value(samples, name):
    """Return the expected reward of a policy that does not learn, over the log's own contexts."""
    target = policy(name)
    chosen = [target.choose(s.contexts, s.admissible).propensities for s in samples]
    return float(np.mean([p @ (s.contexts * WEIGHTS).sum(axis=1) for p, s in zip(chosen, samples)]))


@pytest.mark.parametrize("name", ["frontier", "semantic_map", "ego_vlm", "random", "round_robin"])
def test_intervals_hold_the_true_value_as_often_as_they_say(name):
    held = {"ips": 0, "snips": 0, "doubly_robust": 0}
    for seed in range(40):
        samples = logged(np.random.default_rng(seed), 400)
        value = true_value(samples, name)
        found = evaluate(samples, policy(name))
        for kind in held:
            estimate = getattr(found, kind)
            assert estimate.low <= estimate.value <= estimate.high
            held[kind] += estimate.low <= value <= estimate.high
    # intervals that hold the true value, of 40; 38 are expected at 95 %
    assert min(held.values()) >= 34, held


@pytest.mark.parametrize("bent", [0.0, 0.5])
def test_the_doubly_robust_estimate_errs_less_than_weighting_alone(bent):
    errors = {"ips": [], "doubly_robust": []}
    for seed in range(40):
        samples = logged(np.random.default_rng(1000 + seed), 300, bent=bent)
        for kind, list_ in errors.items():
            value = true_value(samples, "semantic_map") + bent * np.mean(
                [np.sin(12 * s.contexts[0, 1]) for s in samples]
            )
            list_.append(getattr(evaluate(samples, policy("semantic_map")), kind).value - value)
    rms = {kind: float(np.sqrt(np.mean(np.square(e)))) for kind, e in errors.items()}
    assert rms["doubly_robust"] < 0.8 * rms["ips"]
    assert abs(np.mean(errors["doubly_robust"])) < 3.0 * rms["doubly_robust"] / np.sqrt(40)


def test_the_logging_policy_itself_is_weighted_by_one():
    rng, samples = np.random.default_rng(3), []
    for index in range(200):
        admissible = np.array([True, rng.random() < 0.5, True])
        p = admissible / admissible.sum()
        arm = int(rng.choice(3, p=p))
        samples.append(Sample(index, index // 4, np.ones((3, 2)), admissible, arm, p, float(rng.normal())))
    found = evaluate(samples, policy("random"))
    assert found.effective == pytest.approx(200) and found.ips.value == pytest.approx(found.logged.value)
    assert found.by_run and found.runs == 50


def test_a_learner_is_judged_by_what_it_knew_then():
    samples = logged(np.random.default_rng(5), 1500, mixing=0.6)
    learned = evaluate(samples, policy("bandit", prior="cold", alpha=0.2))
    untaught = evaluate(samples, policy("random"))
    assert learned.doubly_robust.low > untaught.doubly_robust.high
    again = evaluate(samples, policy("bandit", prior="cold", alpha=0.2), learn=False)
    # without learning, all arms have equal estimates
    assert again.doubly_robust.value < learned.doubly_robust.value


def test_a_log_that_never_could_do_what_the_policy_does_is_refused():
    samples = logged(np.random.default_rng(0), 200, mixing=0.0)
    with pytest.raises(NoSupport, match=r"never picks there \(first: semantic_map at epoch"):
        evaluate(samples, policy("semantic_map"))
    assert evaluate(samples, policy("frontier")).effective == pytest.approx(200)


def test_a_log_without_propensities_is_refused():
    samples = logged(np.random.default_rng(0), 50)
    for broken in (np.zeros(3), np.array([np.nan, 0.5, 0.5]), np.array([0.5, 0.0, 0.0])):
        bad = [*samples, Sample(77, 99, np.ones((3, 2)), np.ones(3, bool), 0, broken, 1.0)]
        with pytest.raises(NoSupport, match="epoch 77 carries no propensities"):
            evaluate(bad, policy("frontier"))


def test_a_log_that_resembles_the_policy_too_little_is_refused():
    samples = logged(np.random.default_rng(0), 120, mixing=0.05)
    with pytest.raises(NoSupport, match=r"effective sample size is .* below the floor of 30"):
        evaluate(samples, policy("ego_vlm"))


def decision(
    epoch, stamp=0.0, subtask=0, chosen="frontier", total=1.0, success=0.0, text="find it", **changes
):
    context = {**dict.fromkeys(FEATURES, 0.5), "backtracking.semantic_map": 1.0}
    arms = tuple(ArmRecord(name, name != "ego_vlm", propensity=0.5 * (name != "ego_vlm")) for name in ARMS)
    given = {"reward": {"success": success, "total": total}, "outcome": Outcome.REACHED, **changes}
    return Decision(epoch, stamp, text, subtask, context, arms, chosen, **given)


def test_a_log_becomes_samples_with_credited_rewards():
    first = [
        decision(1), decision(2, reward={}, outcome=Outcome.PENDING), decision(3, total=11.0, success=10.0),
        decision(4, subtask=1, total=2.0), decision(5, subtask=1, total=0.5),
    ]  # fmt: skip
    again = [decision(6, text="find another"), decision(7, text="find another", chosen="semantic_map")]
    samples, arms, features = samples_of([[*first, *again], [decision(8)]], decay=0.5)
    assert arms == ARMS and features == "iv_a"
    assert [s.reward for s in samples] == pytest.approx([6.0, 11.0, 2.0, 0.5, 1.0, 1.0, 1.0])
    assert [s.run for s in samples] == [0, 0, 0, 0, 1, 1, 2]
    column = FEATURES.index("backtracking")
    assert samples[0].contexts[:, column].tolist() == [0.0, 1.0, 0.0] and samples[5].arm == 1


def test_a_reward_shares_a_success_as_it_was_learned_from():
    assert decay_of("sequence") == SequenceReward.decay > 0.0
    assert decay_of("single") == 0.0 and decay_of("") == 0.0
    log = [decision(1, total=1.0), decision(2, total=11.0, success=10.0)]
    samples, _, _ = samples_of([log], decay_of("single"))
    assert [s.reward for s in samples] == [1.0, 11.0]


def judged(epoch, *terms):
    return decision(epoch, reward={**dict.fromkeys(terms, 0.0), "success": 0.0, "total": 1.0})


def test_a_reward_is_told_by_its_terms():
    pending, plain = decision(1, reward={}), judged(2, "coverage_rate", "similarity")
    single, sequence = judged(3, "coverage_rate", "vlm"), judged(4, "discovery", "similarity")
    assert reward_of([pending, plain, single, judged(5, "not_reached"), plain]) == "single"
    assert reward_of([plain, sequence, pending]) == "sequence"
    assert reward_of([pending, plain]) == reward_of([]) == reward_of([judged(6, "fun")]) == ""


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ("vlm", "stuck", "epoch 8 was judged by the reward 'sequence', those before by the reward 'single'"),
        ("stuck", "vlm", "epoch 8 was judged by the reward 'single', those before by the reward 'sequence'"),
        ("vlm", "fun", "by a reward that is not known, those before by the reward 'single'"),
        ("fun", "vlm", "by the reward 'single', those before by a reward that is not known"),
    ],
)
def test_decisions_that_different_rewards_judged_do_not_belong_together(first, second, says):
    with pytest.raises(ValueError, match=says):
        reward_of([judged(6, first), judged(7, "similarity"), judged(8, second)])


def test_logs_that_are_none_or_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="no decision"):
        samples_of([[decision(1, reward={})]], 0.7)
    with pytest.raises(ValueError, match="feature sets"):
        features_of(Decision(1, 0.0, "", 0, {"bias": 1.0}, (), ""))
    other = Decision(2, 0.0, "find it", 0, dict.fromkeys(FEATURES, 0.0), (ArmRecord("frontier", True),), "frontier",
                     reward={"total": 1.0})  # fmt: skip
    with pytest.raises(ValueError, match="arms"):
        samples_of([[decision(1), other]], 0.7)
