"""Identity errors among look-alikes by appearance feature of detections, paired over the same tours."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from lodestar_eval.instance_metrics import Counts
from lodestar_eval.instance_runs import Building, Noise, Variant
from lodestar_eval.lookalikes import PAINTS, lookalike_room
from lodestar_eval.metrics import paired_difference
from lodestar_eval.registry import Bar, Result, Table
from lodestar_eval.sentence_answers import mcnemar
from lodestar_sim.worlds import world_from_spec

SCENES = (*PAINTS, "office", "apartment", "warehouse")
_MASKS = ("masks", "mild")
_FEATURES = {"none": "label only", "histogram": "histogram", "truth": "true feature"}


def compare_features(scenes: Sequence[str], seeds: Sequence[int], progress: Callable[[str], None]) -> Result:
    """Return identity errors by scene, quality of the masks, and appearance feature.

    scenes: each a paint of a look-alike room ("alike", "colored"; see `lookalike_room`) or a kind of
    building.
    """
    variants = [Variant(masks, feature) for masks in _MASKS for feature in _FEATURES]
    found: dict[tuple[str, Variant], list[Counts]] = defaultdict(list)
    began = time.perf_counter()
    for scene in scenes:
        for seed in seeds:
            world = lookalike_room(scene, seed) if scene in PAINTS else world_from_spec(scene, seed)
            results = Building(world, seed, Noise(), variants).run()
            for variant, counts in results.items():
                found[scene, variant].append(counts)
            told = ", ".join(f"{_FEATURES[v.feature]} {_errors(c)}" for v, c in results.items())
            progress(f"{scene} {seed}: fragments and switches {told}")
    return _result(found, time.perf_counter() - began)


def _errors(counts: Counts) -> int:
    return counts.fragments + counts.switches


def _result(found: dict[tuple[str, Variant], list[Counts]], wall: float) -> Result:
    rows, pairs, bars, metrics = [], [], [], {"wall_s": wall}
    for (scene, variant), runs in found.items():
        total = Counts()
        for counts in runs:
            total.add(counts)
        name, numbers = f"{scene}.{variant.scenario}.{variant.feature}", total.metrics()
        shown = ("fragments", "switches", "merges", "f1_0.25", "fuse_ms")
        metrics |= {f"{name}.{key}": numbers[key] for key in shown}
        rows.append((
            scene, variant.scenario, _FEATURES[variant.feature],
            f"{numbers['objects'] + numbers['small_objects']:.0f}", f"{total.fragments}", f"{total.switches}",
            f"{total.merges}", f"{_errors(total)}", f"{numbers['f1_0.25']:.3f}", f"{numbers['fuse_ms']:.1f}",
        ))  # fmt: skip
        if variant.feature == "none":
            continue
        plain = [_errors(c) for c in found[scene, Variant(variant.scenario)]]
        ours = [_errors(c) for c in runs]
        mean, low, high = paired_difference(ours, plain, np.random.default_rng(0))
        fewer, more, p = mcnemar([a < b for a, b in zip(ours, plain)], [a > b for a, b in zip(ours, plain)])
        metrics |= {f"{name}.difference": mean, f"{name}.p": p}
        pairs.append((
            scene, variant.scenario, _FEATURES[variant.feature], f"{mean:+.2f}", f"{low:+.2f} to {high:+.2f}",
            f"{fewer}", f"{more}", f"{len(runs) - fewer - more}", f"{p:.2g}",
        ))  # fmt: skip
        bars.append(Bar(f"{name}: mean difference from label only", mean, 0.0, False))
    errors = Table(
        "Identity errors by feature, all seeds",
        ("scene", "masks", "feature", "objects", "fragments", "switches", "merges", "fragments + switches", "F1@0.25",
         "ms per frame"),
        tuple(rows),
    )  # fmt: skip
    paired = Table(
        "Fragments plus switches less those by label only, paired by seed",
        ("scene", "masks", "feature", "mean", "95 % interval", "seeds fewer", "seeds more", "seeds equal",
         "exact sign test p"),
        tuple(pairs),
    )  # fmt: skip
    return Result(metrics=metrics, bars=tuple(bars), tables=(errors, paired), notes=(_NOTE,))


_NOTE = (
    "Fragments: confirmed instances of an object beyond its first, at the end. Switches: an object was given to "
    "another instance than before and that one was not merged into it. Merges: objects most of whose pixels went to an "
    "instance of another object. Captions are the labels, as a detector's are. masks: true masks; mild: that noise. "
    "Localisation drifts in both. True feature: a random unit vector of each true object."
)
