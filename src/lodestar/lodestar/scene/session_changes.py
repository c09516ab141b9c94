"""Changes between two sessions of one map: objects that stayed, moved, vanished, appeared, or are unknown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from lodestar.models.category_priors import CategoryPriors, Watching
from lodestar.models.kinship import same_kind
from lodestar.scene.change_pairs import PairWeights, Sight, weigh
from lodestar.scene.one_to_one import best_pairs, pair_probabilities

CHANGE_LEAST_ODDS = 0.7  # least odds of one object against two for a pair; best F1 of moved objects
CHANGE_SURE = 0.5  # probability from which a change is reported; below, it is UNKNOWN


class ChangeKind(Enum):
    """Changes of an object between two sessions."""

    SAME = "same"
    MOVED = "moved"
    RELABELLED = "relabelled"  # in its place, with a label of another kind
    VANISHED = "vanished"
    APPEARED = "appeared"
    UNKNOWN = "unknown"  # its place was not observed, or a missed detection is as likely


@dataclass(frozen=True)
class ThingChange:
    """Change of one object between two sessions.

    before, after: the object in each session, None if that session has not seen it. probability: of `kind`.
    probabilities: of every kind that is possible; they add up to 1.
    """

    kind: ChangeKind
    probability: float
    before: Sight | None
    after: Sight | None
    probabilities: dict[ChangeKind, float] = field(default_factory=dict)

    @property
    def distance(self) -> float:
        """Return the distance between both places, metres; nan if one is missing."""
        if self.before is None or self.after is None:
            return float("nan")
        return float(np.linalg.norm(self.after.mean - self.before.mean))


def compare_sessions(
    before: Sequence[Sight], after: Sequence[Sight], elapsed: float, priors: CategoryPriors
) -> list[ThingChange]:
    """Return the change of each object of both sessions: those of `before` first, in order, then new ones.

    elapsed: seconds between the sessions. Objects are assigned one to one; the probabilities are over all
    assignments. Remaining unassigned objects of both sessions with the same label are paired too and reported
    as moved, the nearest first: such a move is more common than the removal of one object and the arrival of
    another. The run time grows with the number of objects near a place and of a kind, not with the square of
    their total number.
    """
    found = weigh(before, after, elapsed, priors)
    probabilities = pair_probabilities(found.pairs)
    chosen = best_pairs(found.pairs, CHANGE_LEAST_ODDS)
    partner = dict(zip(found.pairs.rows[chosen].tolist(), np.flatnonzero(chosen).tolist()))
    taken = set(found.pairs.columns[chosen].tolist())
    shares = _shares(before, after, found, probabilities)
    moved = _left_over(before, after, partner.keys(), taken)
    taken |= set(moved.values())
    changes = [
        ThingChange(ChangeKind.MOVED, shares[i][ChangeKind.MOVED], before[i], after[moved[i]], shares[i])
        if i in moved
        else _of_known(i, before, after, found, shares[i], partner.get(i))
        for i in range(len(before))
    ]
    matched = np.bincount(found.pairs.columns, probabilities, len(after))
    for j, sight in enumerate(after):
        if j not in taken:
            changes.append(_of_new(sight, float(min(matched[j], 1.0)), float(found.arrived[j])))
    return changes


def _left_over(
    before: Sequence[Sight], after: Sequence[Sight], paired: Collection[int], taken: Collection[int]
) -> dict[int, int]:
    """Return pairs of unassigned objects with the same label, nearest first.

    They map indices in `before` to indices in `after`.
    """
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
    """Return, for each earlier object, the probability of each kind of change.

    found: candidate pairs and their weights. probabilities: (E,) of the pairs.
    """
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
) -> ThingChange:
    if edge is None:
        kind = ChangeKind.VANISHED if float(found.left[i]) >= CHANGE_SURE else ChangeKind.UNKNOWN
        return ThingChange(kind, share[kind], before[i], None, share)
    other = after[int(found.pairs.columns[edge])]
    kind = ChangeKind.MOVED
    if float(found.stayed[edge]) >= 0.5:
        kind = ChangeKind.SAME if same_kind(before[i].label, other.label) else ChangeKind.RELABELLED
    return ThingChange(kind, share[kind], before[i], other, share)


def _of_new(sight: Sight, matched: float, arrived: float) -> ThingChange:
    """Return the change of an object that only the later session has seen.

    matched: probability that it is one of the earlier objects. arrived: probability of "new" as opposed to
    "missed before".
    """
    share = {ChangeKind.MOVED: matched, ChangeKind.APPEARED: (1.0 - matched) * arrived}
    share[ChangeKind.UNKNOWN] = 1.0 - sum(share.values())
    kind = ChangeKind.APPEARED if arrived >= CHANGE_SURE else ChangeKind.UNKNOWN
    return ThingChange(kind, share[kind], None, sight, share)


def watchings_of(changes: Sequence[ThingChange], elapsed: float) -> list[Watching]:
    """Return observations of how often kinds of objects move, for the priors.

    Unknown changes are left out.
    """
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
