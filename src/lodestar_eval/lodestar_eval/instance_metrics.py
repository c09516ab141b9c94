"""Agreement of a map's instances with the true objects."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from lodestar.geometry.boxes import box_iou
from lodestar.mapping.instances.records import Instance, InstanceDelta
from lodestar.perception.frames import Detection, ImageBox, SegmentedFrame
from lodestar_eval.instance_truth import TrueInstances

THRESHOLDS = (0.25, 0.5)  # bounds on 3D box IoU
THINNEST = 0.05  # metres, least side of compared boxes; flat objects would have no volume


@dataclass
class Counts:
    """Counts of a map's instances against the true objects, summed over worlds.

    found, spurious, missed: numbers by IoU threshold, of objects of normal size; small_*: of small objects.
    covered: objects with an instance; duplicates: instances of these. switches: changes of an object's
    instance id in all `sightings`. fragments: instances of objects beyond the first of each. merges: objects
    whose pixels mostly belong to another object's instance. labelled: found objects with the right label.
    """

    found: Counter = field(default_factory=Counter)
    spurious: Counter = field(default_factory=Counter)
    missed: Counter = field(default_factory=Counter)
    small_found: Counter = field(default_factory=Counter)
    small_spurious: Counter = field(default_factory=Counter)
    small_missed: Counter = field(default_factory=Counter)
    objects: int = 0
    small_objects: int = 0
    covered: int = 0
    duplicates: int = 0
    switches: int = 0
    sightings: int = 0
    fragments: int = 0
    merges: int = 0
    labelled: int = 0
    frames: int = 0
    seconds: float = 0.0  # processor seconds of the map

    def add(self, other: Counts) -> None:
        """Add the counts of another world."""
        for name, value in vars(other).items():
            if isinstance(value, Counter):
                getattr(self, name).update(value)
            else:
                setattr(self, name, getattr(self, name) + value)

    def metrics(self) -> dict[str, float]:
        """Return shares and means; NaN without data."""
        nan = float("nan")
        result: dict[str, float] = {}
        for prefix, found, spurious, missed in (
            ("", self.found, self.spurious, self.missed),
            ("small_", self.small_found, self.small_spurious, self.small_missed),
        ):
            for bound in THRESHOLDS:
                hit, wrong, lost = found[bound], spurious[bound], missed[bound]
                result[f"{prefix}f1_{bound:g}"] = f1(hit, wrong, lost)
                result[f"{prefix}precision_{bound:g}"] = hit / (hit + wrong) if hit + wrong else nan
                result[f"{prefix}recall_{bound:g}"] = hit / (hit + lost) if hit + lost else nan
        result["duplicates"] = self.duplicates / self.covered if self.covered else nan
        result["switches"] = float(self.switches)
        result["switches_per_100"] = 100.0 * self.switches / self.sightings if self.sightings else nan
        hits = self.found[THRESHOLDS[0]]
        result["label_accuracy"] = self.labelled / hits if hits else nan
        result["fragments"], result["merges"] = float(self.fragments), float(self.merges)
        result["objects"] = float(self.objects)
        result["small_objects"] = float(self.small_objects)
        result["fuse_ms"] = 1e3 * self.seconds / self.frames if self.frames else nan
        return result


def f1(found: int, spurious: int, missed: int) -> float:
    """Return the harmonic mean of precision and recall; NaN without true and found objects."""
    total = 2 * found + spurious + missed
    return 2 * found / total if total else float("nan")


def masks_of(segmented: SegmentedFrame, ids: np.ndarray) -> list[int]:
    """Return for each detection the object id of most of its pixels, 0 = none. ids: (H, W) int32 of the same frame."""
    size = int(ids.max(initial=0)) + 1
    place = np.zeros(int(segmented.labels.max(initial=0)) + 1, np.int64)
    for index, detection in enumerate(segmented.detections, 1):
        place[detection.label_value] = index
    shown = place[segmented.labels]
    counts = np.bincount((shown * size + ids).ravel(), minlength=(len(segmented.detections) + 1) * size)
    return [int(row.argmax()) for row in counts.reshape(-1, size)[1:]]


class IdentityWatch:
    """Records the instances assigned to each object, and the objects assigned to each instance.

    resolve, in all methods: instance id -> id of the instance with which it was merged, or itself.
    """

    def __init__(self) -> None:
        self.switches = 0
        self.sightings = 0
        self._pixels: dict[int, Counter] = defaultdict(Counter)  # instance -> pixel count by object
        self._last: dict[int, int] = {}  # object -> its latest instance

    def add(
        self,
        delta: InstanceDelta,
        detections: tuple[Detection, ...],
        shown: list[int],
        resolve: Callable[[int], int],
    ) -> None:
        """Add a frame. shown: object id of each detection, 0 = none."""
        by_key = {_key(d.box, d.pixel_count): which for d, which in zip(detections, shown)}
        largest: dict[int, tuple[int, int]] = {}
        for seen in delta.observations:
            which = by_key.get(_key(seen.box, seen.pixel_count), 0)
            self._pixels[seen.instance_id][which] += seen.pixel_count
            if which:
                largest[which] = max(largest.get(which, (0, 0)), (seen.pixel_count, seen.instance_id))
        for which, (_, instance) in largest.items():
            self.sightings += 1
            before = self._last.get(which)
            self.switches += before is not None and resolve(before) != instance
            self._last[which] = instance

    def merged(self, objects: dict[int, int], counted: Iterable[int], resolve: Callable[[int], int]) -> int:
        """Return the number of counted objects whose pixels mostly belong to another object's instance.

        objects: confirmed instance -> its most frequent object.
        """
        total: dict[int, Counter] = defaultdict(Counter)
        for instance, pixels in self._pixels.items():
            for which, number in pixels.items():
                total[which][resolve(instance)] += number
        homes = {which: total[which].most_common(1)[0][0] for which in counted if total[which]}
        return sum(objects.get(home, which) != which for which, home in homes.items())

    def objects_of(self, instances: Iterable[int], resolve: Callable[[int], int]) -> dict[int, int]:
        """Return the most frequent object of each instance, 0 = none."""
        total: dict[int, Counter] = defaultdict(Counter)
        for instance, pixels in self._pixels.items():
            total[resolve(instance)].update(pixels)
        return {i: total[i].most_common(1)[0][0] if total[i] else 0 for i in instances}


def _key(box: ImageBox, pixels: int) -> tuple[int, ...]:
    """Return what identifies a mask in its frame: an observation's box has an outline, its detection's has none."""
    return box.x, box.y, box.width, box.height, pixels


def score(
    instances: list[Instance], objects: dict[int, int], truth: TrueInstances, labels: dict[int, str]
) -> Counts:
    """Return the counts of one world, except identity switches and time.

    objects: instance id -> its most frequent object. labels: true label by object. Instances of objects that were
    seen too little to count are neither right nor wrong; those of small objects count in the small_* fields.
    """
    counts = Counts(objects=int((~truth.small).sum()), small_objects=int(truth.small.sum()))
    low = np.array([i.box_min for i in instances], float).reshape(-1, 3)
    high = np.array([i.box_max for i in instances], float).reshape(-1, 3)
    ious = box_iou(*_thick(low[:, None], high[:, None]), *_thick(truth.low[None], truth.high[None]))
    small = dict(zip(truth.ids.tolist(), truth.small.tolist()))
    for bound in THRESHOLDS:
        value = np.where(ious >= bound, 1.0 + ious, 0.0)
        rows, columns = linear_sum_assignment(value, maximize=True)
        pairs = {int(r): int(c) for r, c in zip(rows, columns) if value[r, c] > 0.0}
        for column in pairs.values():
            (counts.small_found if truth.small[column] else counts.found)[bound] += 1
        matched = set(pairs.values())
        for column in range(len(truth.ids)):
            if column not in matched:
                (counts.small_missed if truth.small[column] else counts.missed)[bound] += 1
        for row, instance in enumerate(instances):
            which = objects.get(instance.id, 0)
            if row in pairs or (which and which not in small):
                continue
            (counts.small_spurious if small.get(which, False) else counts.spurious)[bound] += 1
        if bound == THRESHOLDS[0]:
            counts.labelled = sum(
                bool(instances[r].votes) and instances[r].votes[0].label == labels.get(int(truth.ids[c]), "")
                for r, c in pairs.items()
                if not truth.small[c]
            )
    normal = Counter(o for o in objects.values() if o in small and not small[o])
    counts.covered, counts.duplicates = len(normal), sum(normal.values())
    everything = Counter(o for o in objects.values() if o in small)
    counts.fragments = sum(everything.values()) - len(everything)
    return counts


def _thick(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return boxes (..., 3) grown about their centres to at least THINNEST along each axis."""
    grow = np.maximum(THINNEST - (high - low), 0.0) / 2.0
    return low - grow, high + grow
