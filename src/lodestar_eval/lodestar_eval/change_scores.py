"""Scores of reported changes against the truth, and three baselines that report changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from lodestar.models.kinship import same_kind
from lodestar.scene.change_pairs import Sight
from lodestar.scene.session_changes import ChangeKind, ThingChange
from lodestar_eval.metrics import share
from lodestar_eval.visited_rooms import Observed

SCORED = ("moved", "vanished", "appeared")
_BINS = 10
# squared Mahalanobis gate; tau_match of B.1.4; metres, side of a box
_GATE, _QUALITY, _SIDE = 16.3, 0.55, 0.2
_FORBIDDEN = 1e3


@dataclass
class Tally:
    """Counts over episodes. told: (probability, is right) of each report that can be judged."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    alike: int = 0  # objects seen at both visits that share their label with another object
    alike_right: int = 0  # of these, the objects paired with themselves
    told: list[tuple[float, bool]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        for mine, its in (
            (self.right, other.right),
            (self.wrong, other.wrong),
            (self.left_out, other.left_out),
        ):
            mine.update(its)
        self.alike += other.alike
        self.alike_right += other.alike_right
        self.told += other.told

    def f1(self, kind: str) -> float:
        """Return the F1 of a kind of change; 0 without reports, NaN without true changes."""
        right = self.right[kind]
        if not right + self.left_out[kind]:
            return float("nan")
        return 2.0 * right / (2.0 * right + self.wrong[kind] + self.left_out[kind])

    def precision(self, kind: str) -> float:
        """Return the share of reports of a kind that are right."""
        return share(self.right[kind], self.right[kind] + self.wrong[kind])

    def recall(self, kind: str) -> float:
        """Return the share of true changes of a kind that were reported."""
        return share(self.right[kind], self.right[kind] + self.left_out[kind])

    @property
    def identity(self) -> float:
        """Return the share of look-alike objects that were paired with themselves across the visits."""
        return share(self.alike_right, self.alike)

    @property
    def calibration_error(self) -> float:
        """Return the mean distance between probability and share of right reports, over ten bins of probability."""
        if not self.told:
            return float("nan")
        said, right = np.array(self.told, float).T
        place = np.minimum((said * _BINS).astype(int), _BINS - 1)
        gaps = [abs(said[place == b].sum() - right[place == b].sum()) for b in range(_BINS)]
        return float(np.sum(gaps) / len(said))

    @property
    def brier(self) -> float:
        """Return the Brier score: the mean square of reported probability minus outcome, 0 or 1."""
        return float(np.mean([(p - r) ** 2 for p, r in self.told])) if self.told else float("nan")


def score(
    changes: Sequence[ThingChange], rows_before: Sequence[int], rows_after: Sequence[int], observed: Observed
) -> Tally:
    """Return the counts of one episode. rows_before, rows_after: object index by id of an observation.

    Moved is counted over objects seen at both visits, and needs the right partner. Vanished and appeared are counted
    over objects whose place was in view at the other visit. An object that moved and was missed at its new place did
    leave the old one, so a report that it vanished is not judged.
    """
    tally = Tally()
    first, second = {s.id for s in observed.before}, {s.id for s in observed.after}
    watched = {
        "vanished": {s.id for s in observed.before if s.watched > 0.0},
        "appeared": {s.id for s in observed.after if s.watched > 0.0},
    }
    paired: dict[int, int] = {}
    moved, gone, new = set[int](), set[int](), set[int]()
    for change in changes:
        before = None if change.before is None else rows_before[change.before.id]
        after = None if change.after is None else rows_after[change.after.id]
        if before is not None and after is not None:
            paired[before] = after
        right = _is_right(change.kind, before, after, observed)
        if right is not None:
            tally.told.append((change.probability, right))
        if change.kind is ChangeKind.MOVED and before is not None:
            moved.add(before)
            tally.wrong["moved"] += before in first & second and not right
        elif change.kind is ChangeKind.VANISHED and before is not None and right is not None:
            gone.add(before)
            tally.wrong["vanished"] += not right
        elif change.kind is ChangeKind.APPEARED and after is not None and right is not None:
            new.add(after)
            tally.wrong["appeared"] += not right
    became = observed.became
    for row in first & second:
        if became[row] == "moved":
            _count(tally, "moved", row in moved and paired.get(row) == row)
    for row in first & watched["vanished"]:
        if became[row] == "taken":
            _count(tally, "vanished", row in gone)
    for row in second & watched["appeared"]:
        if became[row] == "added":
            _count(tally, "appeared", row in new)
    _count_alike(tally, observed, paired)
    return tally


def _count(tally: Tally, kind: str, found: bool) -> None:
    (tally.right if found else tally.left_out)[kind] += 1


def _is_right(kind: ChangeKind, before: int | None, after: int | None, observed: Observed) -> bool | None:
    """Return whether a report is true; None if it cannot be judged or claims nothing."""
    became = observed.became
    if kind is ChangeKind.UNKNOWN:
        return None
    if kind is ChangeKind.VANISHED:
        assert before is not None
        seen = any(s.id == before for s in observed.after)
        return None if became[before] == "moved" and not seen else became[before] == "taken"
    if kind is ChangeKind.APPEARED:
        assert after is not None
        seen = any(s.id == after for s in observed.before)
        return None if became[after] == "moved" and not seen else became[after] == "added"
    if before != after or before is None:
        return False
    return became[before] == ("moved" if kind is ChangeKind.MOVED else "same")


def _count_alike(tally: Tally, observed: Observed, paired: dict[int, int]) -> None:
    """Count the objects seen at both visits that share their observed label with another object of either visit."""
    labels = {s.id: s.label for s in observed.before}
    sights = [*observed.before, *observed.after]
    for sight in observed.after:
        if sight.id not in labels or observed.became[sight.id] not in ("same", "moved"):
            continue
        if any(
            other.id != sight.id and same_kind(other.label, label)
            for other in sights
            for label in {sight.label, labels[sight.id]}
        ):
            tally.alike += 1
            tally.alike_right += paired.get(sight.id) == sight.id


def nearest_of_same_label(
    before: Sequence[Sight], after: Sequence[Sight], threshold: float
) -> list[ThingChange]:
    """Return the changes found by pairing sights of equal label, the nearest pairs first.

    threshold: metres; a pair farther apart counts as moved.
    """
    gaps = sorted(
        (float(np.linalg.norm(a.mean - b.mean)), i, j)
        for i, b in enumerate(before)
        for j, a in enumerate(after)
        if a.label == b.label
    )
    partner: dict[int, int] = {}
    used = set[int]()
    for _, i, j in gaps:
        if i not in partner and j not in used:
            partner[i] = j
            used.add(j)
    changes = []
    for i, sight in enumerate(before):
        if i in partner:
            other = after[partner[i]]
            apart = float(np.linalg.norm(other.mean - sight.mean))
            kind = ChangeKind.MOVED if apart > threshold else ChangeKind.SAME
            changes.append(ThingChange(kind, 1.0, sight, other))
        else:
            kind = ChangeKind.VANISHED if sight.watched > 0.0 else ChangeKind.UNKNOWN
            changes.append(ThingChange(kind, 1.0, sight, None))
    return changes + _unpaired(after, used)


def last_seen_is_true(before: Sequence[Sight], after: Sequence[Sight], threshold: float) -> list[ThingChange]:
    """Return the changes, assuming that nothing moves or vanishes: an object at a new place has appeared.

    A sight within `threshold` metres of an old one is paired with it, whatever its label.
    """
    changes, used = [], set[int]()
    for sight in before:
        gaps = [(float(np.linalg.norm(a.mean - sight.mean)), j) for j, a in enumerate(after) if j not in used]
        near = min(gaps, default=(np.inf, -1))
        if near[0] <= threshold:
            used.add(near[1])
        other = after[near[1]] if near[0] <= threshold else None
        changes.append(ThingChange(ChangeKind.SAME, 1.0, sight, other))
    return changes + _unpaired(after, used)


def vlm_dewm(before: Sequence[Sight], after: Sequence[Sight]) -> list[ThingChange]:
    """Return the changes by the association of VLM-DEWM (B.1): gate and Hungarian method.

    The cost is 0.7 (1 - IoU) + 0.3 (1 - sim); sim is 1 for labels of the same kind, else 0. Every box has the
    side `_SIDE`, because the data has no sizes. Pairs beyond the gate do not match.
    """
    changes, used = [], set[int]()
    cost = np.full((len(before), len(after)), _FORBIDDEN)
    for i, one in enumerate(before):
        for j, other in enumerate(after):
            gap = other.mean - one.mean
            spread = one.covariance + other.covariance + 1e-6 * np.eye(3)
            if gap @ np.linalg.solve(spread, gap) < _GATE:
                shared = float(np.prod(np.maximum(_SIDE - np.abs(gap), 0.0)))
                overlap = shared / (2.0 * _SIDE**3 - shared)
                cost[i, j] = 0.7 * (1.0 - overlap) + 0.3 * (1.0 - same_kind(one.label, other.label))
    rows, columns = linear_sum_assignment(cost)
    partner = {i: j for i, j in zip(rows.tolist(), columns.tolist()) if cost[i, j] <= _QUALITY}
    used |= set(partner.values())
    for i, sight in enumerate(before):
        if i in partner:
            changes.append(ThingChange(ChangeKind.SAME, 1.0, sight, after[partner[i]]))
        else:
            kind = ChangeKind.VANISHED if sight.watched > 0.0 else ChangeKind.UNKNOWN
            changes.append(ThingChange(kind, 1.0, sight, None))
    return changes + _unpaired(after, used)


def _unpaired(after: Sequence[Sight], used: set[int]) -> list[ThingChange]:
    return [
        ThingChange(ChangeKind.APPEARED if s.watched > 0.0 else ChangeKind.UNKNOWN, 1.0, None, s)
        for j, s in enumerate(after)
        if j not in used
    ]
