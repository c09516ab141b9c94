"""Benchmark: snapshots, images that together show all entities: their number, and how well they show the entities."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lodestar_eval.options import positive_int, positive_seconds
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

_COVER = 1.25  # bar of issue 16: number of snapshots relative to greedy set cover
_INCREMENTAL = 1.3  # bar of issue 16: number of snapshots, incremental relative to batch
_FRAMES = 0.08  # bar of issue 16: share of the frames of a 20-minute tour at 1 Hz


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="buildings like those of reverie_dev")
    parser.add_argument("--world", metavar="SPEC", help="a tour of a simulated building instead, as office")
    parser.add_argument("--seed", type=positive_int, default=1, help="of the world and the tour (default 1)")
    parser.add_argument(
        "--seconds", type=positive_seconds, default=1200.0, help="of the tour, simulated (default 1200)"
    )


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    if (options.data is None) == (options.world is None):
        raise BadOptions("give one of --data FOLDER and --world SPEC")
    if options.world is not None:
        return _run_world(options, folder, progress)
    return _run_data(options)


def _run_data(options: argparse.Namespace) -> Result:
    from lodestar_eval.referit import BadData
    from lodestar_eval.reverie import load_buildings
    from lodestar_eval.snapshot_images import RULES, kept_images

    try:
        buildings = load_buildings(options.data)
    except BadData as error:
        raise BadOptions(str(error)) from error
    kept = {building.name: kept_images(building) for building in buildings}
    metrics: dict[str, float] = {"images": sum(len(building.boxes) for building in buildings)}
    metrics["objects"] = sum(len(building.places) for building in buildings)
    rows = []
    for rule in RULES:
        found = [kept[building.name][rule] for building in buildings]
        weights = [len(building.places) for building in buildings]
        metrics[f"snapshots.{rule}"] = sum(len(one.clusters) for one in found)
        metrics[f"covered.{rule}"] = float(np.average([one.covered for one in found], weights=weights))
        metrics[f"quality.{rule}"] = float(np.average([one.quality for one in found], weights=weights))
        counts = (str(len(one.clusters)) for one in found)
        rows.append((rule, *counts, *(f"{metrics[f'{name}.{rule}']:.3f}" for name in ("covered", "quality"))))
    metrics["of_images"] = metrics["snapshots.ours"] / metrics["images"]
    cover = metrics["snapshots.ours"] / metrics["snapshots.greedy"]
    incremental = metrics["snapshots.incremental"] / metrics["snapshots.ours"]
    bars = (
        Bar("visible objects covered, batch", metrics["covered.ours"], 1.0),
        Bar("visible objects covered, incremental", metrics["covered.incremental"], 1.0),
        Bar("snapshots / greedy set cover", cover, _COVER, at_least=False),
        Bar("incremental / batch", incremental, _INCREMENTAL, at_least=False),
    )
    columns = (
        "rule",
        *(building.name for building in buildings),
        "covered",
        "mean score of an object's image",
    )
    tables = (Table("Images kept, by building", columns, tuple(rows)),)
    return Result(metrics, bars, tables, notes=_NOTES)


def _run_world(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.snapshot_tour import SnapshotTour
    from lodestar_sim.worlds import WorldError

    with tempfile.TemporaryDirectory(dir=folder) as images:
        try:
            tour = SnapshotTour(options.world, options.seed, options.seconds, Path(images) / "images")
        except WorldError as error:
            raise BadOptions(str(error)) from error
        found = tour.run(progress)
    metrics = {
        "frames": found.frames, "keyframes": found.keyframes, "entities": found.entities,
        "snapshots.incremental": found.snapshots, "snapshots.ours": found.batch,
        "snapshots.algorithm_1": found.algorithm_1, "snapshots.greedy": found.greedy,
        "of_frames": found.of_frames, "of_keyframes": found.of_keyframes, "covered": found.covered,
        "entities_covered": found.entities_covered, "changes": found.changes,
        "commit_p95_ms": found.commit_p95_ms,
    }  # fmt: skip
    bars = (
        Bar("snapshots / frames of the tour", found.of_frames, _FRAMES, at_least=False),
        Bar("incremental / batch", found.snapshots / max(found.batch, 1), _INCREMENTAL, at_least=False),
        Bar("batch / greedy set cover", found.batch / max(found.greedy, 1), _COVER, at_least=False),
    )
    return Result({key: float(value) for key, value in metrics.items()}, bars, notes=_WORLD_NOTES)


_NOTES = (
    "`ours` clusters all images at once, `incremental` gets them one by one in the order of a walk, `algorithm_1` is "
    "SnapMem's as printed, with 2-means over the places of the objects, `greedy` is greedy set cover. An object counts "
    "as covered where the image of its snapshot has a box of it.",
)
_WORLD_NOTES = (
    "`snapshots.incremental` are those that the upkeep holds at the end of the tour; the other rules cluster the same "
    "sights at once. `covered` is judged by the simulator: of the objects with at least 200 pixels in a frame of the "
    "tour, the share with as many in the image of a snapshot. `entities_covered` is the share of the entities with a "
    "snapshot: what is in no keyframe has none.",
)

BENCHMARK = Benchmark(
    "snapshots",
    "Images that stand for all entities: how few, and how true.",
    _add_options,
    _run,
)
