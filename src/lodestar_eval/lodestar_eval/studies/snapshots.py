"""Study: snapshots, images that together show all entities: their number, and how well they show the entities."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lodestar_eval.options import positive_int, positive_seconds
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole

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


def _cases(options: argparse.Namespace) -> list[tuple[Any, ...]]:
    if (options.data is None) == (options.world is None):
        raise BadOptions("give one of --data FOLDER and --world SPEC")
    if options.data is not None:
        return [(options.data,)]
    return [(options.world, options.seed, options.seconds, options.out)]


def _measure(source: Any, *tour: Any) -> Iterator[Row]:
    """Yield a row per building of a data set and rule, or the row of a tour of a simulated building."""
    from lodestar_eval.referit import BadData
    from lodestar_eval.reverie import load_buildings
    from lodestar_eval.snapshot_images import kept_images

    if tour:
        yield _toured(source, *tour)
        return
    try:
        buildings = load_buildings(source)
    except BadData as error:
        raise BadOptions(str(error)) from error
    for building in buildings:
        sizes = {"building": building.name, "images": len(building.boxes), "objects": len(building.places)}
        for rule, kept in kept_images(building).items():
            scores = {"covered": kept.covered, "quality": kept.quality}
            yield sizes | {"rule": rule, "snapshots": len(kept.clusters)} | scores


def _toured(world: str, seed: int, seconds: float, folder: Path) -> Row:
    from lodestar_eval.snapshot_tour import SnapshotTour
    from lodestar_sim.worlds import WorldError

    with tempfile.TemporaryDirectory(dir=folder) as images:
        try:
            metrics = SnapshotTour(world, seed, seconds, Path(images) / "images").run()
        except WorldError as error:
            raise BadOptions(str(error)) from error
    return {"_toured": metrics, "building": world} | metrics


def _metrics(rows: Rows) -> dict[str, float]:
    if "_toured" in rows[0]:
        return _over(dict(rows[0]["_toured"]), "_batch_over_greedy")
    of = {
        name: [row for row in rows if row["rule"] == name]
        for name in dict.fromkeys(row["rule"] for row in rows)
    }
    metrics = {name: float(sum(row[name] for row in of["ours"])) for name in ("images", "objects")}
    for rule, own in of.items():
        weights = [row["objects"] for row in own]
        metrics[f"snapshots.{rule}"] = sum(row["snapshots"] for row in own)
        for score in ("covered", "quality"):
            metrics[f"{score}.{rule}"] = float(np.average([row[score] for row in own], weights=weights))
    metrics["of_images"] = metrics["snapshots.ours"] / metrics["images"]
    return _over(metrics, "_over_greedy")


def _over(metrics: dict[str, float], name: str) -> dict[str, float]:
    """Return the metrics, and the ratios of the bars; name: of that to greedy set cover."""
    ours = max(metrics["snapshots.ours"], 1)
    cover, incremental = ours / max(metrics["snapshots.greedy"], 1), metrics["snapshots.incremental"] / ours
    return metrics | {name: cover, "_over_batch": incremental}


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

BENCHMARK = Study(
    "snapshots",
    "Images that stand for all entities: how few, and how true.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Whole(_metrics),
        *(Number(f"_{name}", name, by=("rule",)) for name in ("snapshots", "covered", "quality")),
    ),
    bars=(
        Limit("covered.ours", 1.0, name="visible objects covered, batch"),
        Limit("covered.incremental", 1.0, name="visible objects covered, incremental"),
        Limit("of_frames", _FRAMES, False, "snapshots / frames of the tour"),
        Limit("_over_greedy", _COVER, False, "snapshots / greedy set cover"),
        Limit("_batch_over_greedy", _COVER, False, "batch / greedy set cover"),
        Limit("_over_batch", _INCREMENTAL, False, "incremental / batch"),
    ),
    columns=("building", "rule", "snapshots", "covered", "quality"),
    notes=lambda rows: _WORLD_NOTES if "_toured" in rows[0] else _NOTES,
)
