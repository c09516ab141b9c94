"""Benchmark: off-policy evaluation of policies on a log of decisions: IPS, self-normalised IPS and doubly robust."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lodestar.selection.config import policy_names
from lodestar.selection.context import feature_names
from lodestar.selection.linucb import ForeignState, LinUcb
from lodestar.selection.policies import make_policy
from lodestar.worldmodel.decision_log import read_decisions
from lodestar_eval.off_policy import (
    MIN_EFFECTIVE,
    Estimate,
    Evaluation,
    NoSupport,
    Sample,
    decay_of,
    evaluate,
    reward_of,
    samples_of,
)
from lodestar_eval.options import positive_int
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

_TITLE = "Reward per decision, with 95 % intervals by bootstrap"
_COLUMNS = ("policy", "IPS", "self-normalised IPS", "doubly robust", "effective", "agreement")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "log", type=Path, help="decision log (.jsonl), or a folder of them such as `episodes` writes"
    )
    parser.add_argument(
        "--policy",
        default="all",
        help=f"{', '.join(policy_names())}; several with commas, or all of them (default all)",
    )
    parser.add_argument(
        "--state", type=Path, metavar="FILE", help="state of a learning policy, which then learns no further"
    )
    parser.add_argument(
        "--min-effective",
        type=positive_int,
        default=int(MIN_EFFECTIVE),
        metavar="N",
        help="effective sample size below which nothing is estimated (default %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap and of policies that draw")


def _files(log: Path) -> list[Path]:
    """Return the log files: `log` itself, or each .jsonl file in it if it is a folder. Raises BadOptions."""
    if log.is_dir():
        found = sorted(log.rglob("*.jsonl"))
        if not found:
            raise BadOptions(f"{log} holds no .jsonl file")
        return found
    if not log.is_file():
        raise BadOptions(f"there is no log {log}")
    return [log]


def _names(text: str) -> list[str]:
    """Return the names of the policies in an option's text. Raises BadOptions for an unknown one."""
    names = (
        list(policy_names()) if text == "all" else [name.strip() for name in text.split(",") if name.strip()]
    )
    unknown = [name for name in names if name not in policy_names()]
    if unknown or not names:
        raise BadOptions(
            f"no policy is named {', '.join(unknown) or text!r}; known: {', '.join(policy_names())}"
        )
    return names


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    names = _names(options.policy)
    try:
        logs = [list(read_decisions(file)) for file in _files(options.log)]
        reward = reward_of(decision for log in logs for decision in log)
        decay = decay_of(reward)
        samples, arms, features = samples_of(logs, decay)
    except (ValueError, OSError) as error:
        raise BadOptions(str(error)) from error
    found: dict[str, Evaluation] = {}
    refused: dict[str, str] = {}
    for name in names:
        try:
            found[name] = _evaluate(name, samples, arms, feature_names(features, arms), reward, options)
        except NoSupport as reason:
            refused[name] = str(reason)
            progress(f"{name}: refused: {reason}")
            continue
        one = found[name]
        progress(
            f"{name}: doubly robust {_text(one.doubly_robust)}, effective sample size {one.effective:.0f}"
        )
    if not found:
        raise BadOptions(f"none of these policies can be judged; {names[0]}: {refused[names[0]]}")
    return _result(found, refused, samples, features, decay)


def _evaluate(
    name: str,
    samples: list[Sample],
    arms: tuple[str, ...],
    names: tuple[str, ...],
    reward: str,
    options: argparse.Namespace,
) -> Evaluation:
    """Return the evaluation of one policy.

    Raises BadOptions for an unreadable state, and NoSupport if the log or the state does not fit the policy.
    """
    policy = make_policy(name, arms, names, np.random.default_rng(options.seed), reward=reward)
    if options.state is not None and isinstance(policy, LinUcb):
        try:
            policy.load(options.state)
        except ForeignState as error:
            raise NoSupport(str(error)) from error
        except (ValueError, OSError) as error:
            raise BadOptions(str(error)) from error
    return evaluate(
        samples, policy, options.min_effective, options.state is None, np.random.default_rng(options.seed)
    )


def _text(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def _result(
    found: dict[str, Evaluation], refused: dict[str, str], samples: list[Sample], features: str, decay: float
) -> Result:
    first = next(iter(found.values()))
    metrics: dict[str, float] = {
        "decisions": first.decisions,
        "runs": first.runs,
        "logged": first.logged.value,
        "free_choices": float(np.mean([sample.admissible.sum() > 1 for sample in samples])),
    }
    rows = [("the log itself", "", "", _text(first.logged), str(first.decisions), "")]
    for name, one in found.items():
        for kind in ("ips", "snips", "doubly_robust"):
            metrics[f"{kind}.{name}"] = getattr(one, kind).value
        metrics[f"effective.{name}"] = one.effective
        values = (_text(one.ips), _text(one.snips), _text(one.doubly_robust))
        rows.append((name, *values, f"{one.effective:.0f}", f"{one.agreement:.2f}"))
    tables = [Table(_TITLE, _COLUMNS, tuple(rows))]
    if refused:
        tables.append(Table("Refused", ("policy", "why"), tuple(refused.items())))
    unit = "whole runs" if first.by_run else "single decisions, of which runs are too few"
    shared = (
        "A success is credited to the earlier decisions of its subtask (RoboAtlas eq. 24). "
        if decay > 0.0
        else ""
    )
    return Result(
        metrics=metrics,
        bars=(Bar("effective", min(one.effective for one in found.values()), MIN_EFFECTIVE),),
        tables=tuple(tables),
        notes=(
            f"{first.decisions} decisions of {first.runs} runs with the features {features!r}; more than one expert "
            f"could be chosen at {metrics['free_choices']:.0%} of them. The bootstrap resamples {unit}.",
            f"{shared}Policies that learn do so from the log as it goes, unless a state is given. The estimates hold "
            "under the contexts of the log: where another policy would have led the robot, no log can tell.",
        ),
    )


BENCHMARK = Benchmark(
    "replay-log",
    "What another policy would have earned, estimated from a log of decisions.",
    _add_options,
    _run,
)
