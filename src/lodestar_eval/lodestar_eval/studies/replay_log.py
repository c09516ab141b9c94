"""Study: off-policy evaluation of policies on a log of decisions: IPS, self-normalised IPS and doubly robust."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.selection.config import policy_names
from lodestar.selection.context import feature_names
from lodestar.selection.linucb import ForeignState, LinUcb
from lodestar.selection.policies import make_policy
from lodestar.worldmodel.decision_log import read_decisions
from lodestar_eval.off_policy import (
    MIN_EFFECTIVE,
    NoSupport,
    Sample,
    decay_of,
    evaluate,
    reward_of,
    samples_of,
)
from lodestar_eval.options import positive_int
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import Limit, Number, Row, Rows, Study

_ESTIMATES = ("logged", "ips", "snips", "doubly_robust")


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


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    made_of = hashlib.sha256(b"".join(file.read_bytes() for file in _files(options.log))).hexdigest()
    for name in _names(options.policy):
        yield name, made_of, options.log, options.state, options.min_effective, options.seed


@lru_cache(maxsize=1)
def _samples(log: Path) -> tuple[list[Sample], tuple[str, ...], str, str]:
    """Return the samples of a log, its arms, and the names of its features and reward. Raises BadOptions."""
    try:
        logs = [list(read_decisions(file)) for file in _files(log)]
        reward = reward_of(decision for one in logs for decision in one)
        return *samples_of(logs, decay_of(reward)), reward
    except (ValueError, OSError) as error:
        raise BadOptions(str(error)) from error


def _load(policy: LinUcb, state: Path) -> None:
    """Load a state. Raises BadOptions for an unreadable one, and NoSupport if it does not fit the policy."""
    try:
        policy.load(state)
    except ForeignState as error:
        raise NoSupport(str(error)) from error
    except (ValueError, OSError) as error:
        raise BadOptions(str(error)) from error


def _measure(
    name: str, digest: str, log: Path, state: Path | None, min_effective: int, seed: int
) -> Iterator[Row]:
    """Yield the estimates for one policy, or why there are none.

    digest: of the log, which may lie in the folder of results. Raises BadOptions for an unreadable log or state.
    """
    samples, arms, features, reward = _samples(log)
    names = feature_names(features, arms)
    policy = make_policy(name, arms, names, np.random.default_rng(seed), reward=reward)
    try:
        if state is not None and isinstance(policy, LinUcb):
            _load(policy, state)
        found = evaluate(samples, policy, min_effective, state is None, np.random.default_rng(seed))
    except NoSupport as reason:
        yield {"policy": name, "refused": str(reason)}
        return
    row: Row = {"policy": name, "decisions": found.decisions, "runs": found.runs}
    for kind in _ESTIMATES:
        one = getattr(found, kind)
        row |= {kind: one.value, f"{kind}_low": one.low, f"{kind}_high": one.high}
    free = float(np.mean([sample.admissible.sum() > 1 for sample in samples]))
    yield row | {
        "effective": found.effective, "agreement": found.agreement, "free_choices": free, "_by_run": found.by_run,
        "_features": features, "_decay": decay_of(reward),
    }  # fmt: skip


def _notes(rows: Rows) -> tuple[str, ...]:
    """Return the notes. Raises BadOptions if no policy can be judged."""
    first = next((row for row in rows if "effective" in row), None)
    if first is None:
        raise BadOptions(f"none of these policies can be judged; {rows[0]['policy']}: {rows[0]['refused']}")
    unit = "whole runs" if first["_by_run"] else "single decisions, of which runs are too few"
    shared = (
        "A success is credited to the earlier decisions of its subtask (RoboAtlas eq. 24). "
        if first["_decay"] > 0.0
        else ""
    )
    return (
        f"{first['decisions']} decisions of {first['runs']} runs with the features {first['_features']!r}; more than "
        f"one expert could be chosen at {first['free_choices']:.0%} of them. The bootstrap resamples {unit}.",
        f"{shared}Policies that learn do so from the log as it goes, unless a state is given. The estimates hold "
        "under the contexts of the log: where another policy would have led the robot, no log can tell.",
    )


BENCHMARK = Study(
    "replay-log",
    "What another policy would have earned, estimated from a log of decisions.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        *(Number(name, over=max) for name in ("decisions", "runs", "logged", "free_choices")),
        *(Number(name, by=("policy",)) for name in (*_ESTIMATES[1:], "effective")),
        Number("_least", "effective", min),
    ),
    bars=(Limit("_least", MIN_EFFECTIVE, name="effective"),),
    columns=(
        "policy", *(f"{kind}{end}" for kind in _ESTIMATES for end in ("", "_low", "_high")), "effective",
        "agreement", "refused",
    ),
    notes=_notes,
)  # fmt: skip
