"""Images that a model judged for the decisions of an episode, and the time that the robot stood for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.experts.registry import holder
from lodestar.experts.specs import Role
from lodestar.experts.standing import StandingConfig
from lodestar.geometry.poses import apart
from lodestar.selection.decisions import Decision, Outcome
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.registry import Bar

LONGEST = 3.0  # s that a decision may stand; the bar


def looks_of(decisions: Sequence[Decision], path: np.ndarray) -> dict[str, float]:
    """Return `used`: decisions that had a model's word about an image; `own`: of these, those whose image was taken
    where the robot stood when it decided; `longest` and `stood`: seconds of standing, the most and all; `pictures`:
    decisions for a place that the model chose by its picture.

    path: (N, 4) stamp, x, y, yaw of the robot, true.
    """
    config = StandingConfig()
    used = own = pictures = 0
    stood = [0.0]
    for decision in decisions:
        if decision.outcome is not Outcome.PENDING:
            continue
        stood.append(decision.stood)
        pictures += decision.chosen == holder(Role.VIEWER) and bool(decision.evidence_keyframes)
        images = {
            arm.proposal.view for arm in decision.arms if arm.proposal is not None and arm.proposal.view
        }
        used += bool(images)
        here = _pose_at(path, decision.stamp + decision.stood)
        parts = [apart(_pose_at(path, image), here) for image in images]
        own += bool(images) and all(m <= config.distance and turned <= config.angle for m, turned in parts)
    return {"used": float(used), "own": float(own), "longest": max(stood), "stood": sum(stood),
            "pictures": float(pictures)}  # fmt: skip


def _pose_at(path: np.ndarray, stamp: float) -> np.ndarray:
    return np.asarray(path[min(int(np.searchsorted(path[:, 0], stamp - 1e-6)), len(path) - 1), 1:])


def look_metrics(outcomes: Sequence[EpisodeOutcome]) -> dict[str, float]:
    """Return `looks.used`, `own_share`, `longest_s`, `pictures`, and `stood_s` (mean of an episode)."""
    looks = [o.looks for o in outcomes if o.looks]
    used = sum(one["used"] for one in looks)
    return {
        "looks.used": used,
        "looks.own_share": sum(one["own"] for one in looks) / used if used else float("nan"),
        "looks.longest_s": max((one["longest"] for one in looks), default=float("nan")),
        "looks.pictures": sum(one.get("pictures", 0.0) for one in looks),
        "looks.stood_s": sum(one["stood"] for one in looks) / max(len(looks), 1),
    }


def look_bars(metrics: dict[str, float], reasoner_delay: float) -> tuple[Bar, ...]:
    """Return the issue's bars, if the reasoner is slow."""
    if reasoner_delay <= 0.0:
        return ()
    return (
        Bar("looks.own_share", metrics["looks.own_share"], 1.0),
        Bar("looks.longest_s", metrics["looks.longest_s"], LONGEST, at_least=False),
    )
