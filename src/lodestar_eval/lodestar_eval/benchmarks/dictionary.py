"""Time of a cycle as the scene grows: extraction of a batch of instances and the dictionary's update."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lodestar_eval.options import positive_int
from lodestar_eval.registry import Bar, Benchmark, Result, Table

_BOUND = 1.2  # issue 3: time at the largest scene relative to the smallest
_SIZES = (300, 3_000, 30_000)
_LOOKS = 3  # views of every tile: the observations that confirm an instance
_PARTS = ("extract", "update", "page")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cycles", type=positive_int, default=200, help="timed per size (default 200)")
    parser.add_argument("--largest", type=positive_int, default=_SIZES[-1], help="instances (default 30000)")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    sizes = [size for size in _SIZES if size < options.largest] + [options.largest]
    metrics: dict[str, float] = {}
    rows = []
    for size in sizes:
        instances, entities, times = _measure(size, options.cycles, progress)
        cycle = times["extract"] + times["update"]
        values = {"cycle_ms": float(np.median(cycle))}
        values["p99_ms"] = float(np.percentile(cycle, 99))
        values |= {f"{part}_ms": float(np.median(times[part])) for part in _PARTS}
        rows.append(
            (f"{size:,}", f"{instances:,}", f"{entities:,}", *(f"{value:.2f}" for value in values.values()))
        )
        values |= {"instances": float(instances), "entities": float(entities)}
        metrics |= {f"{size}.{name}": value for name, value in values.items()}
        progress(f"{size:,} instances: {values['cycle_ms']:.2f} ms a cycle")
    first, last = sizes[0], sizes[-1]
    bars = []
    for part in ("cycle", "extract", "update"):
        ratio = metrics[f"{last}.{part}_ms"] / metrics[f"{first}.{part}_ms"]
        metrics[f"{part}_ratio"] = ratio
        bars.append(Bar(f"{part} at {last:,} / at {first:,}", ratio, _BOUND, at_least=False))
    columns = (
        "things",
        "instances",
        "entities",
        "cycle, ms",
        "p99",
        "extraction",
        "update",
        "a page of what changed",
    )
    notes = (
        "Processor time of one cycle: the geometry of a bounded batch is extracted from the voxels (recent, in view "
        "and in turn), and the dictionary takes in the delta. At every size the same three views are taken again and "
        "again, of 80 things each, as by a robot that works in one place. Entities lag behind instances where the "
        "views of the tour had more things than a batch.",
    )
    return Result(
        metrics, tuple(bars), (Table("A cycle as the scene grows", columns, tuple(rows)),), notes=notes
    )


def _measure(
    size: int, cycles: int, progress: Callable[[str], None]
) -> tuple[int, int, dict[str, np.ndarray]]:
    """Return the instances and entities found, and milliseconds per part of each cycle after everything is mapped."""
    from lodestar.assembly import parts
    from lodestar.mapping import semantic_voxels
    from lodestar_eval.crowded_scenes import PER_TILE, TableTop

    table, scene = TableTop(size), parts.scene_dictionary()
    voxels = parts.voxel_map()
    stamp = 0.0
    for number, (frame, segmented) in enumerate(table.tour(_LOOKS)):
        stamp = frame.stamp
        scene.update(voxels.fuse(frame, segmented))
        if number % 300 == 299:
            progress(f"  {len(scene):,} of {size:,}")
    while scene.flush().updated:
        pass
    clock, extract = _Clock(), semantic_voxels.extract
    times: dict[str, list[float]] = {part: [] for part in _PARTS}
    whole = size // PER_TILE  # tiles that are full
    tiles = sorted({0, whole // 2, whole - 1})
    semantic_voxels.extract = clock.around(extract)  # type: ignore[assignment]
    try:
        for cycle in range(cycles):
            stamp += table.period
            frame, segmented = table.frame(tiles[cycle // _LOOKS % len(tiles)], stamp)
            clock.spent = 0.0
            delta = voxels.fuse(frame, segmented)
            times["extract"].append(1e3 * clock.spent)
            began, revision = time.thread_time(), scene.revision
            scene.update(delta)
            times["update"].append(1e3 * (time.thread_time() - began))
            began = time.thread_time()
            scene.delta_since(revision)
            times["page"].append(1e3 * (time.thread_time() - began))
    finally:
        semantic_voxels.extract = extract
    return len(voxels.instances()), len(scene), {part: np.array(values) for part, values in times.items()}


class _Clock:
    """Sum of a function's processor time. spent: seconds."""

    def __init__(self) -> None:
        self.spent = 0.0

    def around(self, function: Callable) -> Callable:
        """Return the function with time measurement."""

        def timed(*arguments: object, **options: object) -> object:
            began = time.thread_time()
            try:
                return function(*arguments, **options)
            finally:
                self.spent += time.thread_time() - began

        return timed


BENCHMARK = Benchmark(
    "dictionary", "A cycle of extraction and update as the scene grows.", _add_options, _run
)
