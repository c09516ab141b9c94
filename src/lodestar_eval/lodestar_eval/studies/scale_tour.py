"""Study: one tour through 1,800 m2 with 30,000 objects, and the costs that grow with the map."""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar_eval.options import positive_int
from lodestar_eval.study import EACH, Limit, Number, Row, Rows, Study, Whole

if TYPE_CHECKING:
    from lodestar_eval.scale_tour import Mark, ScaleSettings, TourRecord

_MIB = 2**20
_WINDOW = 0.08  # share of the tour before a mark whose frames and queries count; chosen: four rooms of 48
_STAGES = ("fuse", "scene", "geometry", "experts_listen", "memory", "regions", "enrich", "grid")
_BY = ("at",)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--blocks", type=positive_int, default=3, help="corridors (default 3: 1,800 m2)")
    parser.add_argument(
        "--columns", type=positive_int, default=8, help="rooms along a corridor's side (default 8)"
    )
    parser.add_argument(
        "--objects", type=positive_int, default=30_000, help="in the building (default 30,000)"
    )
    parser.add_argument(
        "--filled",
        action="store_true",
        help="drive through the first room alone, with 10, 25, 50 and 100 %% of the building in the map already",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the building's stock (default 1)")


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    from lodestar_eval.scale_tour import MARKS, ScaleSettings
    from lodestar_eval.stocked_building import BuildingSize

    size = BuildingSize(options.blocks, options.columns, options.objects)
    for share in MARKS if options.filled else (None,):
        marks = MARKS if share is None else (1.0,)
        yield ScaleSettings(size, options.seed, marks=marks), share, options.out


def _measure(settings: ScaleSettings, share: float | None, folder: Path) -> Iterator[Row]:
    """Yield a row per mark of a tour. share: as of `in_a_process_of_its_own`."""
    from lodestar_eval.stocked_map import in_a_process_of_its_own

    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        record = in_a_process_of_its_own(settings, Path(scratch), share)
    told = {
        "objects": record.objects, "matched": record.matched, "entities": record.entities,
        "voxels_refused": record.refused + record.blocks_refused,
        "entities_dropped": record.unknown_to_scene + record.overflow, "frames_rejected": record.rejected,
        "frames": len(record.frames), "seconds": record.seconds, "path_m": record.path,
    }  # fmt: skip
    for mark in record.marks:
        window = (mark.share - _WINDOW, mark.share) if share is None else (0.0, math.inf)
        yield _row(record, mark, *window) | {"at": f"{100 * (share or mark.share):.0f}", "_told": told}


def _row(record: TourRecord, mark: Mark, first: float, last: float) -> Row:
    """Return the costs at a mark, with those of frames and queries at shares of the tour from first to last."""
    frames = [one for one in record.frames if first <= one.share <= last]
    asked = [one for one in record.queries if first <= one.share <= last]
    cycle, robot = (1e3 * np.array([getattr(one, name) for one in frames]) for name in ("cycle", "robot"))
    queries, busy = (1e3 * np.array([getattr(one, name) for one in asked]) for name in ("seconds", "busy"))
    stages = {
        f"_{stage}_ms": 1e3 * float(np.mean([one.stages.get(stage, 0.0) for one in frames]))
        for stage in _STAGES
    }
    return {
        "mib": mark.bytes / _MIB, "peak_mib": mark.peak / _MIB,
        "cycle_ms": float(cycle.mean()), "cycle_p95_ms": float(np.percentile(cycle, 95)),
        "frame_ms": float(robot.mean()), "query_p95_ms": float(np.percentile(queries, 95)),
        "query_cpu_p95_ms": float(np.percentile(busy, 95)),
        "decision_ms": 1e3 * float(np.median(mark.decisions)), "layers_ms": 1e3 * mark.layers,
        "save_s": mark.save, "load_s": mark.load, "entities": float(mark.entities), "voxels": float(mark.voxels),
        "free_m2": mark.area, "_frames": mark.frames, "_query_p50_ms": float(np.median(queries)),
        "_file_mib": mark.file_bytes / _MIB, "_loaded": mark.loaded,
    } | stages  # fmt: skip


def _whole(rows: Rows) -> dict[str, float]:
    first, last = rows[0], rows[-1]
    return {name: float(value) for name, value in last["_told"].items()} | {
        "map_mib": last["mib"], "cycle_end_over_first": last["cycle_ms"] / first["cycle_ms"],
        "frame_end_over_first": last["frame_ms"] / first["frame_ms"], "query_cpu_p95_ms": last["query_cpu_p95_ms"],
        "loaded_alike": float(all(row["_loaded"] for row in rows)),
    }  # fmt: skip


BENCHMARK = Study(
    "scale-tour",
    "A tour of 1,800 m2 and 30,000 objects by the whole robot: what grows.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Number(EACH, by=_BY, digits=1),
        *(Number(f"_{name}", by=_BY, digits=1) for name in ("frames", "query_p50_ms", "file_mib")),
        *(Number(f"_{stage}_ms", by=_BY, digits=1) for stage in _STAGES),
        Whole(_whole),
    ),
    bars=(  # of issue 37
        Limit("voxels_refused", 0.0, False),
        Limit("entities_dropped", 0.0, False),
        Limit("map_mib", 1024.0, False),
        Limit("cycle_end_over_first", 1.2, False),
        Limit("frame_end_over_first", 1.2, False),
        Limit("query_cpu_p95_ms", 50.0, False),
        Limit("loaded_alike", 1.0),
    ),
    notes=(
        "matched: objects with an entity of their category within 0.15 m.",
        "Cycle and frame are processor time, means over 8 % of the tour before the mark, with --filled over a room. "
        "Cycle = surfaces, votes, instances and entities; frame = all that the robot does for an image, without "
        "simulated sensors and detector. "
        "Queries: one per 10 images, each with a new phrase, on the scene of that moment; the bar is on processor "
        "time, since other programs stretch wall time. Decision and layers: processor time; save and load: wall time. "
        "MiB: resident memory of the whole robot above that before it, and its peak since the "
        "mark before, with the images of the simulator.",
    ),
)
