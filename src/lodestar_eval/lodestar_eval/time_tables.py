"""Times of searches by the robot's activity, as metrics and as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from lodestar_eval.metrics import mean
from lodestar_eval.registry import Table
from lodestar_eval.time_split import KINDS


class Timed(Protocol):
    """Interface of an outcome with times. sct: NaN = the search began at a success pose; seconds, seen_after:
    see `EpisodeOutcome`.
    """

    @property
    def success(self) -> bool:
        """Return whether the task succeeded."""

    @property
    def sct(self) -> float:
        """Return success weighted by completion time."""

    @property
    def duration(self) -> float:
        """Return the duration in seconds."""

    @property
    def seconds(self) -> Mapping[str, float]:
        """Return seconds by activity of the robot."""

    @property
    def seen_after(self) -> float:
        """Return the seconds until a target was in view."""


def time_metrics(outcomes: Sequence[Timed]) -> dict[str, float]:
    """Return SCT, shares of time by activity, and mean seconds until the target was in view and after that."""
    whole = sum(o.seconds.get(kind, 0.0) for o in outcomes for kind in KINDS)
    metrics = {"sct": mean([o.sct for o in outcomes])}
    for name in (*KINDS, *_reasons(outcomes)):
        seconds = sum(o.seconds.get(name, 0.0) for o in outcomes)
        metrics[f"time_share.{name}"] = seconds / whole if whole > 0.0 else math.nan
    seen = [o for o in outcomes if not math.isnan(o.seen_after)]
    metrics["seconds_to_view"] = mean([o.seen_after for o in seen])
    metrics["seconds_from_view"] = mean([o.duration - o.seen_after for o in seen if o.success])
    metrics["never_in_view"] = len(outcomes) - len(seen)
    return metrics


def _reasons(outcomes: Sequence[Timed]) -> list[str]:
    """Return the keys of the standing times ("standing.STATE"), one per state of the decision loop."""
    return sorted({name for o in outcomes for name in o.seconds if name.startswith("standing.")})


def time_table(rows: Mapping[tuple[str, str], Sequence[Timed]]) -> Table:
    """Return the table of mean seconds by activity. rows: outcomes by setting and policy."""
    reasons = _reasons([o for found in rows.values() for o in found])
    lines = []
    for row, found in rows.items():
        if any(o.seconds for o in found):
            metrics = time_metrics(found)
            seconds = [mean([o.seconds.get(name, 0.0) for o in found]) for name in (*KINDS, *reasons)]
            lines.append((
                *row, f"{metrics['sct']:.3f}", f"{mean([o.duration for o in found]):.0f}",
                *(f"{value:.1f}" for value in seconds),
                f"{metrics['seconds_to_view']:.0f}", f"{metrics['seconds_from_view']:.0f}",
                str(metrics["never_in_view"]),
            ))  # fmt: skip
    columns = (
        "setting", "policy", "SCT", "all", *KINDS, *(f"of it {name.partition('.')[2]}" for name in reasons),
        "until in view", "from view to claim", "never in view",
    )  # fmt: skip
    return Table("Where the seconds go", columns, tuple(lines))
