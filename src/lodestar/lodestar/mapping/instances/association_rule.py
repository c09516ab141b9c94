"""Association of masks with instances by voxels and boxes; evidence over frames merges and splits instances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from lodestar.mapping.instances.appearance import AppearanceCalibration
from lodestar.mapping.instances.association import Masks, Match, Split, loser_and_winner
from lodestar.mapping.instances.evidence import FaceEvidence, MergeEvidence
from lodestar.mapping.instances.split_evidence import SplitEvidence
from lodestar.mapping.instances.tracks import Track, Tracks
from lodestar.mapping.voxels.voxel_store import VoxelStore
from lodestar.models.category_priors import largest
from lodestar.models.kinship import looks_agree
from lodestar.perception.frames import Detection

# A mask beside an instance of similar appearance claims it by its share of points within APPEARANCE_REACH,
# times:
APPEARANCE_NEAR = 0.5  # factor; chosen
APPEARANCE_REACH = 0.3  # metres around the instance's box; chosen
# share of a mask's points in an instance's voxels, from which the pair calibrates appearance; chosen
APPEARANCE_CERTAIN = 0.7
# A mask shows an instance if geometric weight x geometry + label weight x agreement reaches ASSOCIATION_ACCEPT.
ASSOCIATION_ACCEPT = 0.4  # least score; DESIGN section 4
ASSOCIATION_GEOMETRIC_WEIGHT = 0.8  # weight of geometry; DESIGN section 4
ASSOCIATION_LABEL_WEIGHT = 0.2  # weight of the agreement of labels; DESIGN section 4
# factor of the share of a mask's points within an instance's box, if the labels agree; chosen
ASSOCIATION_CONTAINMENT_WEIGHT = 0.75
ASSOCIATION_BOX_MARGIN = 0.05  # metres by which that box is grown; chosen
# share of a mask's points in an instance's voxels from which it may be a second mask of that instance; chosen
ASSOCIATION_SECOND_SHARE = 0.5
# A mask that covers two alike instances is evidence for a merge.
# share of an instance's points in the frame that a covering mask contains; chosen
ASSOCIATION_COVERED_SHARE = 0.6
ASSOCIATION_COVERED_POINTS = 8  # least number of points that it contains; chosen


@dataclass(frozen=True)
class Claim:
    """Candidate pair of a mask and an instance, with its score.

    share: share of the mask's points that lie in the instance's voxels. agrees: whether both labels are of
    one kind.
    """

    mask: int
    instance: int
    score: float
    share: float
    agrees: bool


class AssociationRule:
    """Assigns each mask to its best claim; merges and splits instances after enough frames of evidence.

    Two labels agree if they are of one kind (`models.kinship`): sofa and couch do, chair and table do not.
    """

    def __init__(self) -> None:
        self._looks = AppearanceCalibration()
        self._merges = MergeEvidence(self._looks)
        self._faces = FaceEvidence(self._looks)
        self._splits = SplitEvidence()

    def associate(self, masks: Masks, store: VoxelStore, tracks: Tracks) -> list[Match]:
        usable = masks.usable & _plausible(masks)
        if not usable.any():
            return []
        ids, owned, contained, close, total = self._count(masks, store, tracks)
        in_view = owned.sum(axis=0)
        needed = np.maximum(ASSOCIATION_COVERED_POINTS, ASSOCIATION_COVERED_SHARE * in_view)
        share = owned / np.maximum(total, 1)[:, None]
        box_share = ASSOCIATION_CONTAINMENT_WEIGHT * contained / np.maximum(total, 1)[:, None]
        near_share = APPEARANCE_NEAR * close / np.maximum(total, 1)[:, None]
        claims: list[Claim] = []
        covered: dict[int, tuple[int, ...]] = {}
        for mask in np.flatnonzero(usable).tolist():
            detection = masks.detections[mask]
            own = owned[mask]
            covered[mask] = tuple(ids[k] for k in np.flatnonzero((own > 0) & (own >= needed)).tolist())
            for k in np.flatnonzero((own > 0) | (close[mask] > 0)).tolist():
                track = tracks[ids[k]]
                agreement = track.agreement(detection.label)
                if share[mask, k] < ASSOCIATION_SECOND_SHARE and not _may_be(track, detection, masks, mask):
                    continue
                look = self._looks.evidence(track, detection)
                value = share[mask, k]
                if agreement >= 0.5:
                    value = max(value, box_share[mask, k], look * near_share[mask, k])
                score = ASSOCIATION_GEOMETRIC_WEIGHT * value + ASSOCIATION_LABEL_WEIGHT * agreement
                if score >= ASSOCIATION_ACCEPT:
                    score += ASSOCIATION_LABEL_WEIGHT * look
                    claims.append(Claim(mask, ids[k], float(score), float(share[mask, k]), agreement >= 0.5))
        matches = _settle(claims, covered)
        index = {identity: k for k, identity in enumerate(ids)}
        self._looks.learn([
            (masks.detections[m.mask], tracks[m.instance_id])
            for m in matches
            if m.instance_id and share[m.mask, index[m.instance_id]] >= APPEARANCE_CERTAIN
        ])  # fmt: skip
        return matches

    def _count(
        self, masks: Masks, store: VoxelStore, tracks: Tracks
    ) -> tuple[list[int], np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the ids (M,) of instances near a frame's D masks, and four counts of the masks' points.

        The counts are the points in an instance's voxels, (D, M); in its box grown by ASSOCIATION_BOX_MARGIN,
        (D, M); in its box grown by APPEARANCE_REACH, (D, M); and all points of a mask, (D,).
        """
        samples, margin, reach = masks.samples, ASSOCIATION_BOX_MARGIN, APPEARANCE_REACH
        ids = tracks.near(samples.low.min(axis=0) - reach, samples.high.max(axis=0) + reach)
        owners = store.owners(samples.voxels)
        runs = owners[
            np.flatnonzero(np.diff(owners, prepend=0))
        ]  # adjacent points mostly lie in voxels of one owner
        ids = sorted({*ids, *(i for i in set(runs.tolist()) if i in tracks)})
        boxes = np.array([tracks.bounds(i) for i in ids], np.float64).reshape(-1, 2, 3)
        sides = np.array([-1.0, 1.0])[:, None]
        return ids, *_tally(
            samples.start, samples.points, samples.low, samples.high, owners, np.array(ids, np.int64),
            boxes + margin * sides, boxes + reach * sides,
        )  # fmt: skip

    def split(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[Split]:
        return self._splits.look(matches, masks, tracks)

    def merge(self, masks: Masks, matches: list[Match], tracks: Tracks) -> list[tuple[int, int]]:
        pairs = self._merges.look(matches, tracks)
        seen = sorted({m.instance_id for m in matches if m.instance_id in tracks})
        pairs += [p for p in self._faces.look(seen, tracks, masks.sights, self._merges) if p not in pairs]
        return [loser_and_winner(tracks[a], tracks[b]) for a, b in pairs if _fit(tracks[a], tracks[b])]

    def differ(self, a: Track, b: Track) -> bool:
        return self._looks.differ(a, b)

    def forget(self, instance: int) -> None:
        for evidence in (self._merges, self._faces, self._splits):
            evidence.forget(instance)

    def set_apart(self, a: int, b: int) -> None:
        self._merges.set_apart(a, b)


def _plausible(masks: Masks) -> np.ndarray:
    """Return (D,) bool: masks that are not longer than a thing of their label can be."""
    most = [largest(detection.label) for detection in masks.detections]
    return (masks.samples.high - masks.samples.low).max(axis=1) <= np.array(most, np.float32)


def _may_be(track: Track, detection: Detection, masks: Masks, mask: int) -> bool:
    """Return whether a mask that lies mostly beside an instance may show it: it does not name other looks, such as
    another colour, and both together are not longer than a thing of the instance's label can be.
    """
    if not looks_agree((track.label, track.caption), (detection.label, detection.caption)):
        return False
    low = np.minimum(track.box_min, masks.samples.low[mask])
    high = np.maximum(track.box_max, masks.samples.high[mask])
    return bool((high - low).max() <= largest(track.label))


def _fit(a: Track, b: Track) -> bool:
    """Return whether two instances together are not longer than a thing of their label can be."""
    size = (np.maximum(a.box_max, b.box_max) - np.minimum(a.box_min, b.box_min)).max()
    return bool(size <= max(largest(a.label), largest(b.label)))


@njit(cache=True, nogil=True)
def _tally(start, points, low, high, owners, ids, boxes, reaches):
    """Count the points of each mask in the voxels, in `boxes` and in `reaches` of each instance, and all.

    ids: (M,) instances, ascending. boxes, reaches: (M, 2, 3), the instances' boxes grown by a small and a
    large margin.
    """
    masks = len(start) - 1
    owned = np.zeros((masks, len(ids)), np.int64)
    contained, close = np.zeros((masks, len(ids)), np.int64), np.zeros((masks, len(ids)), np.int64)
    for mask in range(masks):
        last, place = 0, -1
        for n in range(start[mask], start[mask + 1]):
            if owners[n] != last:
                last = owners[n]
                place = np.searchsorted(ids, last) if last > 0 else -1
                if place >= 0 and (place == len(ids) or ids[place] != last):
                    place = -1
            if place >= 0:
                owned[mask, place] += 1
        for k in range(len(ids)):
            if not ((reaches[k, 0] <= high[mask]).all() and (reaches[k, 1] >= low[mask]).all()):
                continue
            for n in range(start[mask], start[mask + 1]):
                if _is_in(points[n], reaches[k]):
                    close[mask, k] += 1
                    contained[mask, k] += _is_in(points[n], boxes[k])
    return owned, contained, close, np.diff(start)


@njit(cache=True, nogil=True, inline="always")
def _is_in(point, box):
    return (
        box[0, 0] <= point[0] <= box[1, 0] and box[0, 1] <= point[1] <= box[1, 1]
        and box[0, 2] <= point[2] <= box[1, 2]
    )  # fmt: skip


def _settle(claims: list[Claim], covered: dict[int, tuple[int, ...]]) -> list[Match]:
    """Return one match per mask, by accepting claims in order of their scores.

    A mask gets at most one instance. A second mask of the same instance is accepted only if enough of its
    points lie in the instance's voxels. A mask whose label is of another kind may show an instance that is
    labelled wrongly, or be labelled wrongly itself; but if a mask of the instance's own kind shows it in the
    same frame, the former is a stranger.
    """
    chosen: dict[int, Claim] = {}
    taken: set[int] = set()
    for claim in sorted(claims, key=lambda c: (-c.score, c.mask, c.instance)):
        if claim.mask in chosen or (claim.instance in taken and claim.share < ASSOCIATION_SECOND_SHARE):
            continue
        chosen[claim.mask] = claim
        taken.add(claim.instance)
    shown = {claim.instance for claim in chosen.values() if claim.agrees}
    matches = []
    for mask, instances in covered.items():
        claim = chosen.get(mask, Claim(mask, 0, 0.0, 0.0, agrees=False))
        stranger = claim.instance in shown and not claim.agrees
        matches.append(Match(mask, claim.instance, claim.score, instances, stranger))
    return matches
