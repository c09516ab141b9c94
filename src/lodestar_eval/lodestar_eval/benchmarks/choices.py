"""Policies over logged goals whose experts' quality differs by building and changes: does learning win?"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lodestar.experts.registry import expert_names
from lodestar.selection.config import policy_names
from lodestar.selection.context import feature_names
from lodestar.selection.policies import make_policy
from lodestar.worldmodel.decision_log import read_decisions
from lodestar_eval.choice_trials import (
    FEATURES,
    PHASES,
    QUALITY,
    Template,
    TrialConfig,
    run_stream,
    template_of,
)
from lodestar_eval.metrics import paired_difference
from lodestar_eval.options import positive_int
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

_OURS = "corrected"
_RIVALS = ("greedy", "mask_after", *expert_names(), "bandit")
_AS_TOLD: tuple[dict[str, dict[str, float]], ...] = (
    {kind: {} for kind in ("apartment", "office", "warehouse")},
)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "logs", type=Path, help="folder of decision logs such as `episodes` writes for several kinds"
    )
    parser.add_argument(
        "--streams", type=positive_int, default=4, help="of 240 searches in 48 buildings (default 4)"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first stream (default 0)")
    parser.add_argument(
        "--as-told", action="store_true", help="every chance is true: learning has nothing to correct"
    )


def _templates(folder: Path) -> list[Template]:
    """Return the searches of the logs below a folder, whose paths name the kind of building. Raises BadOptions."""
    found = []
    for file in sorted(folder.rglob("*.jsonl")):
        kind = next((kind for kind in QUALITY[0] if kind in str(file.relative_to(folder))), None)
        if kind is None:
            continue
        try:
            template = template_of(kind, list(read_decisions(file)), expert_names())
        except (ValueError, OSError) as error:
            raise BadOptions(str(error)) from error
        found += [template] if template is not None else []
    if not found:
        raise BadOptions(
            f"{folder} holds no log of {', '.join(QUALITY[0])} whose proposals tell chance and seconds"
        )
    return found


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    templates = _templates(options.logs)
    arms, config = expert_names(), TrialConfig()
    names = feature_names(FEATURES, arms)
    quality = _AS_TOLD if options.as_told else QUALITY
    taken: dict[str, np.ndarray] = {}
    for policy in (_OURS, *(name for name in _RIVALS if name in policy_names())):
        make = lambda name=policy: make_policy(name, arms, names, np.random.default_rng(0))  # noqa: E731
        streams = range(options.first, options.first + options.streams)
        taken[policy] = np.array([run_stream(make, templates, arms, s, config, quality) for s in streams])
        progress(f"{policy}: {taken[policy].mean():.1f} s until found")
    return _result(taken, len(templates), len(quality))


def _result(taken: dict[str, np.ndarray], templates: int, phases: int) -> Result:
    metrics: dict[str, float] = {"searches": float(taken[_OURS].size), "templates": float(templates)}
    rows, bars = [], []
    for policy, seconds in taken.items():
        by_building = seconds.mean(axis=2).ravel()
        metrics[f"seconds.{policy}"] = float(seconds.mean())
        parts = [part.mean() for part in np.array_split(seconds, phases, axis=1)]
        told = ""
        if policy != _OURS:
            ours = taken[_OURS].mean(axis=2).ravel()
            value, low, high = paired_difference(list(by_building), list(ours), np.random.default_rng(0))
            metrics |= {f"saved.{policy}": value, f"saved_low.{policy}": low, f"saved_high.{policy}": high}
            told = f"{value:+.1f} ({low:+.1f} to {high:+.1f})"
            bars.append(Bar(f"saved_low.{policy}", low, 1e-6))
        rows.append((policy, f"{seconds.mean():.1f}", *(f"{part:.1f}" for part in parts), told))
    columns = ("policy", "s until found", *PHASES[:phases], f"saved by {_OURS} (95 %)")
    return Result(
        metrics=metrics,
        bars=tuple(bars),
        tables=(Table("Seconds until found", columns, tuple(rows)),),
        notes=(
            "Replayed goals of logged searches; a choice does not change later offers. Intervals are a bootstrap over "
            "buildings, with the same draws for all policies. A search that fails counts with its limit.",
        ),
    )


BENCHMARK = Benchmark(
    "choices",
    "Policies over logged goals, with experts whose quality differs by building and changes.",
    _add_options,
    _run,
)
