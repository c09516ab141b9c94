"""Agreement of a map's instances with the true objects."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment

from lodestar.geometry.boxes import box_iou
from lodestar_eval.metrics import share

if TYPE_CHECKING:
    from lodestar.mapping.instances.records import Instance, InstanceDelta
    from lodestar.perception.frames import Detection, ImageBox, SegmentedFrame
    from lodestar_eval.instance_truth import TrueInstances

THRESHOLDS = (0.25, 0.5)  # bounds on 3D box IoU
THINNEST = 0.05  # metres, least side of compared boxes; flat objects would have no volume


def metrics_of(counts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return shares and means over worlds from their counts; NaN without data.

    Counts beside those of `score`: switches: changes of an object's instance id in all `sightings`. merges: objects
    whose pixels mostly belong to another object's instance. frames, and seconds of processor time of the map.
    """
    total: dict[str, float] = defaultdict(float)
    for one in counts:
        for name, value in one.items():
            total[name] += value
    result: dict[str, float] = {}
    for prefix in ("", "small_"):
        for bound in (f"_{value:g}" for value in THRESHOLDS):
            hit, wrong, lost = (total[prefix + name + bound] for name in ("found", "spurious", "missed"))
            result[f"{prefix}f1{bound}"] = f1(hit, wrong, lost)
            result[f"{prefix}precision{bound}"] = share(hit, hit + wrong)
            result[f"{prefix}recall{bound}"] = share(hit, hit + lost)
    return result | {
        "duplicates": share(total["duplicates"], total["covered"]),
        "switches_per_100": 100.0 * share(total["switches"], total["sightings"]),
        "label_accuracy": share(total["labelled"], total[f"found_{THRESHOLDS[0]:g}"]),
        "fuse_ms": 1e3 * share(total["seconds"], total["frames"]),
        **{name: total[name] for name in ("switches", "fragments", "merges", "objects", "small_objects")},
    }


def f1(found: float, spurious: float, missed: float) -> float:
    """Return the harmonic mean of precision and recall; NaN without true and found objects."""
    return share(2 * found, 2 * found + spurious + missed)


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
) -> Counter[str]:
    """Return the counts of one world.

    found, spurious, missed: numbers of objects of normal size, with the IoU threshold at the end of the name; small_*:
    those of small objects. covered: objects with an instance; duplicates: instances of these. fragments: instances of
    objects beyond the first of each. labelled: found objects with the right label.
    objects: instance id -> its most frequent object. labels: true label by object. Instances of objects that were
    seen too little to count are neither right nor wrong.
    """
    counts = Counter(objects=int((~truth.small).sum()), small_objects=int(truth.small.sum()))
    low = np.array([i.box_min for i in instances], float).reshape(-1, 3)
    high = np.array([i.box_max for i in instances], float).reshape(-1, 3)
    ious = box_iou(*_thick(low[:, None], high[:, None]), *_thick(truth.low[None], truth.high[None]))
    prefixes = {which: "small_" if small else "" for which, small in zip(truth.ids.tolist(), truth.small)}
    for bound in THRESHOLDS:
        value = np.where(ious >= bound, 1.0 + ious, 0.0)
        rows, columns = linear_sum_assignment(value, maximize=True)
        pairs = {int(r): int(truth.ids[c]) for r, c in zip(rows, columns) if value[r, c] > 0.0}
        matched = set(pairs.values())
        for which, prefix in prefixes.items():
            counts[f"{prefix}{'found' if which in matched else 'missed'}_{bound:g}"] += 1
        for row, instance in enumerate(instances):
            which = objects.get(instance.id, 0)
            if row not in pairs and (not which or which in prefixes):
                counts[f"{prefixes.get(which, '')}spurious_{bound:g}"] += 1
        if bound == THRESHOLDS[0]:
            counts["labelled"] = sum(
                bool(instances[row].votes) and instances[row].votes[0].label == labels.get(which, "")
                for row, which in pairs.items()
                if not prefixes[which]
            )
    known = [which for which in objects.values() if which in prefixes]
    normal = [which for which in known if not prefixes[which]]
    counts.update(covered=len(set(normal)), duplicates=len(normal), fragments=len(known) - len(set(known)))
    return counts


def _thick(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return boxes (..., 3) grown about their centres to at least THINNEST along each axis."""
    grow = np.maximum(THINNEST - (high - low), 0.0) / 2.0
    return low - grow, high + grow
