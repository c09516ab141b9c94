"""Evidence for splitting an instance into two, after a bad mask had joined two objects."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lodestar.mapping.instances.association import Masks, Match, Split
from lodestar.mapping.instances.tracks import Tracks
from lodestar.models.kinship import looks_agree, same_kind

# frames that show two objects minus those that show one, from which an instance is split; chosen
SPLIT_EVIDENCE = 4.0
# share of a mask's points in the other's box from which two masks are not apart; chosen
SPLIT_OVERLAP = 0.25
SPLIT_WHOLE = 0.8  # share of an instance's extent from which one mask shows it whole; chosen
SPLIT_SINGLE = 0.25  # frames against a split that a mask of less than the whole counts; chosen


class SplitEvidence:
    """Balance per instance: frames in which two masks lie apart on it, minus frames that show it whole.

    A frame shows an instance whole if a single mask does. A frame counts double if the two captions differ.
    An instance with enough evidence is split at the next frame whose masks together show all of it, because
    only such a frame shows which part belongs to which object.
    """

    def __init__(self) -> None:
        self._balance: dict[int, float] = {}

    def look(self, matches: list[Match], masks: Masks, tracks: Tracks) -> list[Split]:
        """Count which instances a frame shows in parts or whole; return the splits with enough evidence."""
        shown: dict[int, list[int]] = {}
        for match in matches:
            if match.instance_id:
                shown.setdefault(match.instance_id, []).append(match.mask)
        strangers = {match.mask for match in matches if match.stranger}
        splits = []
        for instance, own in shown.items():
            others = [mask for mask in own if mask in strangers]
            if len(own) == 1:
                self._look_at_one(instance, own[0], masks, tracks)
                continue
            if others:
                (kept, *_), (moved, *_) = (_by_size(m, masks) for m in (set(own) - strangers, others))
                weight = 2.0
            else:
                kept, moved = _by_size(own, masks)[:2]
                if not self._apart(masks, kept, moved):
                    continue
                names = [(masks.detections[m].label, masks.detections[m].caption) for m in (kept, moved)]
                weight = 1.0 if same_kind(names[0][0], names[1][0]) and looks_agree(*names) else 2.0
            balance = self._balance.get(instance, 0.0) + weight
            self._balance[instance] = min(balance, SPLIT_EVIDENCE)
            if balance >= SPLIT_EVIDENCE and (others or self._shows_all(instance, own, masks, tracks)):
                del self._balance[instance]
                splits.append(Split(instance, kept, moved, inside=bool(others)))
        return splits

    def _look_at_one(self, instance: int, mask: int, masks: Masks, tracks: Tracks) -> None:
        """Lower the balance of an instance for a frame in which only one mask shows it.

        It is lowered by more if the mask shows the whole instance.
        """
        whole = self._shows_all(instance, [mask], masks, tracks)
        balance = self._balance.get(instance, 0.0) - (1.0 if whole else SPLIT_SINGLE)
        self._balance[instance] = max(balance, -SPLIT_EVIDENCE)

    def _shows_all(self, instance: int, own: list[int], masks: Masks, tracks: Tracks) -> bool:
        """Return whether the masks together cover the instance's extent in plan."""
        box = tracks.bounds(instance)
        low, high = masks.samples.low[own].min(axis=0), masks.samples.high[own].max(axis=0)
        return all(high[a] - low[a] >= SPLIT_WHOLE * (box[a + 3] - box[a]) for a in (0, 1))

    def forget(self, instance: int) -> None:
        """Drop the evidence of an instance."""
        self._balance.pop(instance, None)

    def _apart(self, masks: Masks, a: int, b: int) -> bool:
        samples = masks.samples
        if (samples.low[a] > samples.high[b]).any() or (samples.low[b] > samples.high[a]).any():
            return True
        points, others = masks.points(a), masks.points(b)
        return (
            _share_inside(points, others) <= SPLIT_OVERLAP and _share_inside(others, points) <= SPLIT_OVERLAP
        )


def _by_size(masks: Iterable[int], of: Masks) -> list[int]:
    """Return the masks sorted by their number of points, the largest first."""
    sizes = np.diff(of.samples.start)
    return sorted(masks, key=lambda mask: (-sizes[mask], mask))


def _share_inside(points: np.ndarray, others: np.ndarray) -> float:
    """Return the share of points (N, 3) inside the box of others (M, 3).

    The box spans the middle nine tenths of the others along each axis.
    """
    low, high = np.percentile(others, (5, 95), axis=0)
    return float(((low <= points) & (points <= high)).all(axis=1).mean())
