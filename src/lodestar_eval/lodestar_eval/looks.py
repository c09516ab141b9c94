"""Counts of an episode's looks, and the time that the robot stood.

A look is a model's answer about an image that a decision used.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestar.experts.registry import holder
from lodestar.experts.specs import Role
from lodestar.experts.view_judge import STANDING_ANGLE, STANDING_DISTANCE
from lodestar.geometry.poses import apart
from lodestar.selection.decisions import Decision, Outcome
from lodestar_eval.outcomes import EpisodeOutcome
from lodestar_eval.registry import Bar

LONGEST = 3.0  # s, longest allowed standing for a decision; the bar


def looks_of(decisions: Sequence[Decision], path: np.ndarray) -> dict[str, float]:
    """Return counts of decisions by their use of images, and the times that the robot stood.

    used: decisions with a model's answer about an image. own: of these, those whose image was taken from the
    robot's pose at the decision. longest, stood: longest and total seconds of standing. pictures: decisions
    for a place that the model chose by its image. path: (N, 4) N true poses: stamp, x, y, yaw.
    """
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
        own += bool(images) and all(
            m <= STANDING_DISTANCE and turned <= STANDING_ANGLE for m, turned in parts
        )
    return {"used": float(used), "own": float(own), "longest": max(stood), "stood": sum(stood),
            "pictures": float(pictures)}  # fmt: skip


def _pose_at(path: np.ndarray, stamp: float) -> np.ndarray:
    return np.asarray(path[min(int(np.searchsorted(path[:, 0], stamp - 1e-6)), len(path) - 1), 1:])


def look_metrics(outcomes: Sequence[EpisodeOutcome]) -> dict[str, float]:
    """Return metrics `looks.*` over episodes from `looks_of`; `looks.stood_s` is the mean per episode."""
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
    """Return pass thresholds on `looks.own_share` and `looks.longest_s`; none without a reasoner delay."""
    if reasoner_delay <= 0.0:
        return ()
    return (
        Bar("looks.own_share", metrics["looks.own_share"], 1.0),
        Bar("looks.longest_s", metrics["looks.longest_s"], LONGEST, at_least=False),
    )
