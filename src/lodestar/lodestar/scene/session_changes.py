"""Changes between two sessions of one map: what stayed, moved, vanished, appeared, and what is not known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from lodestar.models.kinship import same_kind
from lodestar.scene.category_priors import CategoryPriors, Watching
from lodestar.scene.change_pairs import PairWeights, Sight, weigh
from lodestar.scene.config import ChangeConfig
from lodestar.scene.one_to_one import best_pairs, pair_probabilities


class ChangeKind(Enum):
    """Fates of a thing between two sessions."""

    SAME = "same"
    MOVED = "moved"
    RELABELLED = "relabelled"  # in its place, under a label of another kind
    VANISHED = "vanished"
    APPEARED = "appeared"
    UNKNOWN = "unknown"  # its place was not looked at, or a miss explains it as well


@dataclass(frozen=True)
class ThingChange:
    """Fate of one thing. before, after: None where that session has no sight of it.

    probability: of `kind`. probabilities: of every kind that is possible; they add up to 1.
    """

    kind: ChangeKind
    probability: float
    before: Sight | None
    after: Sight | None
    probabilities: dict[ChangeKind, float] = field(default_factory=dict)

    @property
    def distance(self) -> float:
        """Return the metres between both places; nan where one is missing."""
        if self.before is None or self.after is None:
            return float("nan")
        return float(np.linalg.norm(self.after.mean - self.before.mean))


def compare_sessions(
    before: Sequence[Sight],
    after: Sequence[Sight],
    elapsed: float,
    priors: CategoryPriors,
    config: ChangeConfig,
) -> list[ThingChange]:
    """Return what became of each thing of both sessions: those of `before` first, in order, then the new ones.

    elapsed: seconds between the sessions. Things are assigned one to one; the probabilities are over all assignments.
    What is left over on both sides under one label is told as moved, the nearest first: that one of few such things was
    carried off and another one brought is rarer than a move that the odds do not show.
    Time grows with the things of a place and of a kind, not with the square of all.
    """
    found = weigh(before, after, elapsed, priors, config)
    probabilities = pair_probabilities(found.pairs)
    chosen = best_pairs(found.pairs, config.least_odds)
    partner = dict(zip(found.pairs.rows[chosen].tolist(), np.flatnonzero(chosen).tolist()))
    taken = set(found.pairs.columns[chosen].tolist())
    shares = _shares(before, after, found, probabilities)
    moved = _left_over(before, after, partner.keys(), taken)
    taken |= set(moved.values())
    changes = [
        ThingChange(ChangeKind.MOVED, shares[i][ChangeKind.MOVED], before[i], after[moved[i]], shares[i])
        if i in moved
        else _of_known(i, before, after, found, shares[i], partner.get(i), config)
        for i in range(len(before))
    ]
    matched = np.bincount(found.pairs.columns, probabilities, len(after))
    for j, sight in enumerate(after):
        if j not in taken:
            changes.append(_of_new(sight, float(min(matched[j], 1.0)), float(found.arrived[j]), config))
    return changes


def _left_over(
    before: Sequence[Sight], after: Sequence[Sight], paired: Collection[int], taken: Collection[int]
) -> dict[int, int]:
    """Return pairs of one label among the things that are in no pair yet, by rows, the nearest first."""
    new: dict[str, list[int]] = {}
    for j, sight in enumerate(after):
        if j not in taken:
            new.setdefault(sight.label, []).append(j)
    gaps = sorted(
        (float(np.linalg.norm(after[j].mean - sight.mean)), i, j)
        for i, sight in enumerate(before)
        if i not in paired
        for j in new.get(sight.label, ())
    )
    found: dict[int, int] = {}
    for _, i, j in gaps:
        if i not in found and j not in found.values():
            found[i] = j
    return found


def _shares(
    before: Sequence[Sight], after: Sequence[Sight], found: PairWeights, probabilities: np.ndarray
) -> list[dict[ChangeKind, float]]:
    """Return the probabilities of each known thing."""
    shares: list[dict[ChangeKind, float]] = [
        dict.fromkeys((ChangeKind.SAME, ChangeKind.MOVED, ChangeKind.RELABELLED), 0.0) for _ in before
    ]
    for edge, p in enumerate(probabilities.tolist()):
        i, j = int(found.pairs.rows[edge]), int(found.pairs.columns[edge])
        stayed = float(found.stayed[edge])
        place = ChangeKind.SAME if same_kind(before[i].label, after[j].label) else ChangeKind.RELABELLED
        shares[i][place] += p * stayed
        shares[i][ChangeKind.MOVED] += p * (1.0 - stayed)
    for i, share in enumerate(shares):
        rest = max(1.0 - sum(share.values()), 0.0)
        share[ChangeKind.VANISHED] = rest * float(found.left[i])
        share[ChangeKind.UNKNOWN] = rest - share[ChangeKind.VANISHED]
    return shares


def _of_known(
    i: int,
    before: Sequence[Sight],
    after: Sequence[Sight],
    found: PairWeights,
    share: dict[ChangeKind, float],
    edge: int | None,
    config: ChangeConfig,
) -> ThingChange:
    if edge is None:
        kind = ChangeKind.VANISHED if float(found.left[i]) >= config.sure else ChangeKind.UNKNOWN
        return ThingChange(kind, share[kind], before[i], None, share)
    other = after[int(found.pairs.columns[edge])]
    kind = ChangeKind.MOVED
    if float(found.stayed[edge]) >= 0.5:
        kind = ChangeKind.SAME if same_kind(before[i].label, other.label) else ChangeKind.RELABELLED
    return ThingChange(kind, share[kind], before[i], other, share)


def _of_new(sight: Sight, matched: float, arrived: float, config: ChangeConfig) -> ThingChange:
    """Return what is known of a thing that only the later session has."""
    share = {ChangeKind.MOVED: matched, ChangeKind.APPEARED: (1.0 - matched) * arrived}
    share[ChangeKind.UNKNOWN] = 1.0 - sum(share.values())
    kind = ChangeKind.APPEARED if arrived >= config.sure else ChangeKind.UNKNOWN
    return ThingChange(kind, share[kind], None, sight, share)


def watchings_of(changes: Sequence[ThingChange], elapsed: float) -> list[Watching]:
    """Return what the changes teach of how often kinds of things move. What is not known teaches nothing."""
    found = []
    for change in changes:
        if change.before is None or change.kind is ChangeKind.UNKNOWN:
            continue
        share = change.probabilities
        moved = share[ChangeKind.MOVED] + share[ChangeKind.VANISHED]
        known = 1.0 - share[ChangeKind.UNKNOWN]
        if known > 0.0:
            found.append(
                Watching(change.before.label, elapsed, min(moved / known, 1.0), change.before.extent)
            )
    return found
