"""Metrics and tables of the `recovery` benchmark."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np

from lodestar_eval.metrics import cluster_interval, defined, mean
from lodestar_eval.recovery_runs import FULL, NO_EVENT, RecoveryRun
from lodestar_eval.registry import Bar, Result, Table

_BLIND = "blind_retry"
_BOUNDS = {"tsr": 0.90, "cda": 0.75, "cda_3": 0.85, "false": 0.02, "lost_s": 30.0}


def result_of(found: Sequence[RecoveryRun], wall: float) -> Result:
    """Return metrics, pass thresholds and tables; runs without a failure count only for false recoveries."""
    plain = [run for run in found if run.cause == NO_EVENT]
    disturbed = [run for run in found if run.cause != NO_EVENT]
    rows = list(dict.fromkeys(run.row_name for run in disturbed))
    causes = list(dict.fromkeys(run.cause for run in disturbed))
    metrics: dict[str, float] = {"wall_s": wall, "no_event.runs": float(len(plain))}
    metrics["no_event.sr"] = mean([float(run.success) for run in plain])
    metrics["false_recoveries"] = mean([float(bool(run.recoveries)) for run in plain])
    table = []
    for row in rows:
        mine = [run for run in disturbed if run.row_name == row]
        metrics |= _of_row(row, mine)
        for cause in causes:
            runs = [run for run in mine if run.cause == cause]
            if runs:
                metrics |= _of_cause(row, cause, runs)
                table.append(_line(row, cause, runs))
    rivals = [row for row in rows if row != FULL] if FULL in rows else []
    for row in rivals:
        metrics |= _against(disturbed, row)
    return Result(
        metrics,
        _bars(metrics, rows),
        (
            Table(
                "Causes",
                ("row", "cause", "runs", "TSR", "diagnosed", "CDA first", "CDA 3 looks", "lost s", "lost m"),
                tuple(table),
            ),
            _rows(metrics, rows, rivals),
            _confusion([run for run in disturbed if run.row_name == FULL], causes),
        ),
        (),
        (
            "Success is stated per cause before the run: the thing is found, or the search ends with the right code. "
            "CDA counts the runs in which a diagnosis was made; in the others nothing failed, because the robot drove "
            "round the event or never met it. Lost seconds and metres: the median over searches that found the thing, "
            "against the same search without an event.",
        ),
    )


def _of_row(row: str, runs: Sequence[RecoveryRun]) -> dict[str, float]:
    return {
        f"runs.{row}": float(len(runs)),
        f"tsr.{row}": mean([float(run.success) for run in runs]),
        f"cda.{row}": _share([run.first for run in runs]),
        f"cda_3.{row}": _share([run.within for run in runs]),
        f"lost_s.{row}": _median([run.lost_s for run in runs]),
        f"lost_m.{row}": _median([run.lost_m for run in runs]),
    }


def _of_cause(row: str, cause: str, runs: Sequence[RecoveryRun]) -> dict[str, float]:
    metrics = {
        f"tsr.{cause}.{row}": mean([float(run.success) for run in runs]),
        f"lost_s.{cause}.{row}": _median([run.lost_s for run in runs]),
        f"lost_m.{cause}.{row}": _median([run.lost_m for run in runs]),
    }
    if row == FULL:
        metrics |= {
            f"cda.{cause}": _share([run.first for run in runs]),
            f"cda_3.{cause}": _share([run.within for run in runs]),
            f"diagnosed.{cause}": mean([float(bool(run.diagnoses)) for run in runs]),
        }
    return metrics


def _rows(metrics: dict[str, float], rows: Sequence[str], rivals: Sequence[str]) -> Table:
    """Return the table of all robot variants (VLM-DEWM table 6)."""
    lines = []
    for row in rows:
        low, high = (metrics.get(f"tsr_over.{row}_{end}", float("nan")) for end in ("low", "high"))
        apart = f"{metrics[f'tsr_over.{row}']:+.3f} ({low:.3f} to {high:.3f})" if row in rivals else ""
        numbers = (f"{metrics[f'{key}.{row}']:.3f}" for key in ("tsr", "cda", "cda_3"))
        lines.append(
            (row, f"{metrics[f'runs.{row}']:.0f}", *numbers, f"{metrics[f'lost_s.{row}']:.1f}", apart)
        )
    names = (
        "row",
        "runs",
        "TSR",
        "CDA first",
        "CDA 3 looks",
        "lost s",
        "full minus row (buildings drawn anew)",
    )
    return Table("Rows", names, tuple(lines))


def _line(row: str, cause: str, runs: Sequence[RecoveryRun]) -> tuple[str, ...]:
    return (
        row, cause, str(len(runs)), f"{mean([float(run.success) for run in runs]):.2f}",
        str(sum(bool(run.diagnoses) for run in runs)), f"{_share([run.first for run in runs]):.2f}",
        f"{_share([run.within for run in runs]):.2f}", f"{_median([run.lost_s for run in runs]):.0f}",
        f"{_median([run.lost_m for run in runs]):.1f}",
    )  # fmt: skip


def _against(found: Sequence[RecoveryRun], row: str) -> dict[str, float]:
    """Return the task success rate (TSR) of the full robot minus that of a variant, over the runs of both,
    with buildings resampled. row: the variant's name.
    """
    pairs: dict[tuple[int, str], dict[str, bool]] = {}
    for run in found:
        pairs.setdefault((run.seed, run.cause), {})[run.row_name] = run.success
    apart: dict[int, list[float]] = {}
    for (seed, _), pair in pairs.items():
        if FULL in pair and row in pair:
            apart.setdefault(seed, []).append(float(pair[FULL]) - float(pair[row]))
    low, high = cluster_interval(list(apart.values()), np.random.default_rng(0))
    name = f"tsr_over.{row}"
    return {name: mean(list(chain(*apart.values()))), f"{name}_low": low, f"{name}_high": high}


def _bars(metrics: dict[str, float], rows: Sequence[str]) -> tuple[Bar, ...]:
    if FULL not in rows:
        return ()
    bars = [
        Bar(f"tsr.{FULL}", metrics[f"tsr.{FULL}"], _BOUNDS["tsr"]),
        Bar(f"cda.{FULL}", metrics[f"cda.{FULL}"], _BOUNDS["cda"]),
        Bar(f"cda_3.{FULL}", metrics[f"cda_3.{FULL}"], _BOUNDS["cda_3"]),
        Bar("false_recoveries", metrics["false_recoveries"], _BOUNDS["false"], at_least=False),
        Bar(f"lost_s.{FULL}", metrics[f"lost_s.{FULL}"], _BOUNDS["lost_s"], at_least=False),
    ]
    if _BLIND in rows:
        bars.append(Bar(f"tsr_over.{_BLIND}_low", metrics[f"tsr_over.{_BLIND}_low"], 1e-9))
    return tuple(bars)


def _confusion(runs: Sequence[RecoveryRun], causes: Sequence[str]) -> Table:
    """Return the table of first diagnoses by induced cause."""
    seen = Counter((run.cause, run.diagnoses[0] if run.diagnoses else "none") for run in runs)
    named = list(dict.fromkeys([*causes, *sorted({name for _, name in seen})]))
    rows = tuple((cause, *(str(seen[cause, name] or "") for name in named)) for cause in causes)
    return Table("First diagnosis (columns) by induced cause (rows)", ("induced", *named), rows)


def _share(values: Sequence[bool | None]) -> float:
    return mean([float(value) for value in values if value is not None])


def _median(values: Sequence[float]) -> float:
    known = defined(values)
    return statistics.median(known) if known else float("nan")
