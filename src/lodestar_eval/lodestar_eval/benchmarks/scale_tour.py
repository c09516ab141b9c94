"""Benchmark: one tour through 1,800 m2 with 30,000 objects, and the costs that grow with the map."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.options import positive_int
from lodestar_eval.registry import Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar_eval.scale_tour import FrameCost, Mark, QueryCost, TourRecord

_MIB = 2**20
_MEMORY_BOUND, _SLOWER_BOUND, _QUERY_BOUND = 1024.0, 1.2, 50.0  # bars: MiB, ratio, ms; issue 37
_WINDOW = 0.08  # share of the tour before a mark whose frames and queries count; chosen: four rooms of 48
_STAGES = ("fuse", "scene", "geometry", "experts_listen", "memory", "regions", "enrich", "grid")


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


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.scale_tour import MARKS, ScaleSettings
    from lodestar_eval.stocked_building import BuildingSize
    from lodestar_eval.stocked_map import in_a_process_of_its_own

    size = BuildingSize(options.blocks, options.columns, options.objects)
    settings = ScaleSettings(size, options.seed, marks=(1.0,) if options.filled else MARKS)
    parts = []
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        for share in MARKS if options.filled else (None,):
            record = in_a_process_of_its_own(settings, Path(scratch), share)
            for mark in record.marks:
                frames = [one for one in record.frames if mark.share - _WINDOW <= one.share <= mark.share]
                asked = [one for one in record.queries if mark.share - _WINDOW <= one.share <= mark.share]
                if share is not None:
                    frames, asked, mark = record.frames, record.queries, replace(mark, share=share)
                parts.append(_Part(mark, frames, asked))
                progress(f"{100 * mark.share:.0f} %: {mark.entities} entities, {mark.bytes / _MIB:.0f} MiB")
    return _result(parts, record, size.area, options.filled)


@dataclass(frozen=True)
class _Part:
    """Measurements at a mark (share of the tour), with the frames and queries shortly before it."""

    mark: Mark
    frames: list[FrameCost]
    asked: list[QueryCost]


def _mean(frames: list[FrameCost], stage: str) -> float:
    """Return the mean processor time of a stage over frames, ms."""
    return 1e3 * float(np.mean([one.stages.get(stage, 0.0) for one in frames]))


def _result(parts: list[_Part], record: TourRecord, area: float, filled: bool) -> Result:
    rows: list[tuple[str, ...]] = []
    stage_rows: list[tuple[str, ...]] = []
    metrics: dict[str, float] = {}
    cycles: list[float] = []
    frames_ms: list[float] = []
    queries_ms: list[float] = []
    busy_ms: list[float] = []
    for part in parts:
        mark, frames, asked = part.mark, part.frames, part.asked
        cycle = 1e3 * np.array([one.cycle for one in frames])
        robot = 1e3 * np.array([one.robot for one in frames])
        queries = 1e3 * np.array([one.seconds for one in asked])
        busy = 1e3 * np.array([one.busy for one in asked])
        cycles.append(float(cycle.mean()))
        frames_ms.append(float(robot.mean()))
        queries_ms.append(float(np.percentile(queries, 95)))
        busy_ms.append(float(np.percentile(busy, 95)))
        at = f"{100 * mark.share:.0f}"
        metrics |= {
            f"mib.{at}": mark.bytes / _MIB, f"peak_mib.{at}": mark.peak / _MIB,
            f"cycle_ms.{at}": cycles[-1], f"cycle_p95_ms.{at}": float(np.percentile(cycle, 95)),
            f"frame_ms.{at}": frames_ms[-1], f"query_p95_ms.{at}": queries_ms[-1],
            f"query_cpu_p95_ms.{at}": busy_ms[-1],
            f"decision_ms.{at}": 1e3 * float(np.median(mark.decisions)), f"layers_ms.{at}": 1e3 * mark.layers,
            f"save_s.{at}": mark.save, f"load_s.{at}": mark.load, f"entities.{at}": float(mark.entities),
            f"voxels.{at}": float(mark.voxels), f"free_m2.{at}": mark.area,
        }  # fmt: skip
        rows.append(
            (f"{at} %", str(mark.frames), f"{mark.area:.0f}", f"{mark.entities:,}", f"{mark.voxels:,}",
             f"{mark.bytes / _MIB:.0f} / {mark.peak / _MIB:.0f}",
             f"{cycles[-1]:.1f} / {np.percentile(cycle, 95):.1f}", f"{frames_ms[-1]:.1f}",
             f"{np.median(queries):.0f} / {queries_ms[-1]:.0f} ({np.percentile(busy, 95):.0f})",
             f"{1e3 * np.median(mark.decisions):.0f}", f"{1e3 * mark.layers:.0f}", f"{mark.save:.1f}",
             f"{mark.load:.1f}", f"{mark.file_bytes / _MIB:.0f}")
        )  # fmt: skip
        stage_rows.append((f"{at} %", *(f"{_mean(frames, stage):.1f}" for stage in _STAGES)))
    dropped = float(record.unknown_to_scene + record.overflow)
    metrics |= {
        "objects": float(record.objects), "matched": float(record.matched), "entities": float(record.entities),
        "voxels_refused": float(record.refused + record.blocks_refused), "entities_dropped": dropped,
        "frames_rejected": float(record.rejected), "frames": float(len(record.frames)),
        "map_mib": parts[-1].mark.bytes / _MIB, "cycle_end_over_first": cycles[-1] / cycles[0],
        "frame_end_over_first": frames_ms[-1] / frames_ms[0], "query_cpu_p95_ms": busy_ms[-1],
        "seconds": record.seconds,
        "path_m": record.path, "loaded_alike": float(all(part.mark.loaded for part in parts)),
    }  # fmt: skip
    bars = (
        Bar("voxels_refused", metrics["voxels_refused"], 0.0, False),
        Bar("entities_dropped", dropped, 0.0, False),
        Bar("map_mib", metrics["map_mib"], _MEMORY_BOUND, False),
        Bar("cycle_end_over_first", metrics["cycle_end_over_first"], _SLOWER_BOUND, False),
        Bar("frame_end_over_first", metrics["frame_end_over_first"], _SLOWER_BOUND, False),
        Bar("query_cpu_p95_ms", metrics["query_cpu_p95_ms"], _QUERY_BOUND, False),
        Bar("loaded_alike", metrics["loaded_alike"], 1.0),
    )
    columns = (
        "tour", "frames", "free m2", "entities", "voxels", "MiB / peak", "cycle mean / p95 ms", "frame ms",
        "query p50 / p95 (cpu p95) ms", "decision ms", "layers ms", "save s", "load s", "file MiB",
    )  # fmt: skip
    notes = (
        f"{area:.0f} m2, {record.objects:,} objects, {record.matched:,} of them with an entity of their category "
        f"within 0.15 m; {record.entities:,} entities. {record.path:.0f} m driven, {len(record.frames)} images.",
        f"Cycle and frame are processor time, means over {'a room' if filled else '8 % of the tour before the mark'}. "
        "Cycle = surfaces, votes, instances and entities; frame = all that the robot does for an image, without "
        "simulated sensors and detector. "
        "Queries: one per 10 images, each with a new phrase, on the scene of that moment; the bar is on processor "
        "time, since other programs stretch wall time. Decision and layers: processor time; save and load: wall time. "
        "MiB: resident memory of the whole robot above that before it, and its peak since the "
        "mark before, with the images of the simulator.",
    )
    tables = (Table("Tour", columns, tuple(rows)), Table("Stages, ms", ("tour", *_STAGES), tuple(stage_rows)))
    return Result(metrics, bars, tables, notes=notes)


BENCHMARK = Benchmark(
    "scale-tour", "A tour of 1,800 m2 and 30,000 objects by the whole robot: what grows.", _add_options, _run
)
