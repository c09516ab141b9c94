"""Memory and time per frame while the voxel map grows from a flat to a whole building."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.map_size_building import add_building_options, open_building
from lodestar_eval.registry import Bar, Benchmark, Plot, Result, Table

if TYPE_CHECKING:
    from lodestar.perception.frames import RgbdFrame, SegmentedFrame
    from lodestar_eval.mapper_process import Cost, MapperProcess, Totals

_MIB = 2**20
_FLAT, _BUILDING = 100.0, 1800.0  # m2, of the issue
_MARKS = (50.0, 100.0, 200.0, 400.0, 800.0, 1200.0, 1600.0)  # m2, rows of the table
_PEAK_BOUND, _FLAT_BOUND, _BUILDING_BOUND = 1.05, 150.0, 1024.0  # steady sizes, MiB, MiB
_SLOWER_BOUND, _P99_BOUND = 1.2, 100.0  # factor of the time at the start; ms
_CELL = 0.25  # m, of the plan on which the area seen is counted
_WARM_UP = 12  # frames
_REPEATS = 3
_REVISITED = 60  # frames that are repeated with a small and with the whole map


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_building_options(parser)
    parser.add_argument("--area", type=float, default=None, metavar="M2", help="stop when this much was seen")


@dataclass
class _Growth:
    """Area seen, m2, and cost after each frame; `early`, `late`: of the same views with a small and a large map.

    Those are processor seconds per view, the least of several times.
    """

    area: list[float] = field(default_factory=list)
    cost: list[Cost] = field(default_factory=list)
    early: np.ndarray = field(default_factory=lambda: np.empty(0))
    late: np.ndarray = field(default_factory=lambda: np.empty(0))


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.mapper_process import MapperProcess
    from lodestar_eval.settings import NOISES
    from lodestar_eval.sweep import Sweep

    spec, world = open_building(options)
    sweep = Sweep(world, options.seed, noise=NOISES["mild"])
    progress(f"{spec}: {len(sweep.stops)} stops, {len(sweep)} frames")
    frames = sweep.frames()
    mapper = MapperProcess([pair for _, pair in zip(range(_WARM_UP), frames)])
    growth = _grow(mapper, frames, math.inf if options.area is None else options.area, progress)
    totals = mapper.close()
    _plot(growth, folder / "growth.png")
    return _result(growth, totals, {"world": spec, "stops": len(sweep.stops), "frame": "640x480"})


def _grow(
    mapper: MapperProcess,
    frames: Iterable[tuple[RgbdFrame, SegmentedFrame]],
    area: float,
    progress: Callable[[str], None],
) -> _Growth:
    growth, seen = _Growth(), set()
    first: list[tuple[RgbdFrame, SegmentedFrame]] = []
    for pair in frames:
        cost = mapper.take(*pair)
        if cost is None:
            continue
        growth.cost.append(cost)
        seen |= _cells(pair[0])
        growth.area.append(len(seen) * _CELL**2)
        if len(first) < _REVISITED:
            first.append(pair)
        if not len(growth.early) and len(first) == _REVISITED:
            growth.early = _revisit(mapper, first)
        if len(growth.cost) % 200 == 0:
            last = growth.cost[-1]
            progress(f"{len(growth.cost)} frames, {growth.area[-1]:.0f} m2, {last.bytes / _MIB:.0f} MiB")
        if growth.area[-1] >= area:
            break
    if not len(growth.early):
        growth.early = _revisit(mapper, first)
    growth.late = _revisit(mapper, first)
    return growth


def _revisit(mapper: MapperProcess, views: list[tuple[RgbdFrame, SegmentedFrame]]) -> np.ndarray:
    """Return the processor seconds of each view, the least of several runs, because other programs only add time."""
    costs = [[mapper.take(*view) for view in views] for _ in range(_REPEATS)]
    return np.min([[math.inf if cost is None else cost.cpu_seconds for cost in row] for row in costs], axis=0)


def _cells(frame: RgbdFrame) -> set[tuple[int, int]]:
    """Return the cells of the plan with a measured point between the floor and the height of a door."""
    rays = frame.camera.rays(8)
    depth = frame.depth[::8, ::8]
    good = (depth > 0.1) & (depth < 5.0)
    points = (rays[good] * depth[good][:, None]) @ frame.map_from_camera[:3, :3].T + frame.map_from_camera[
        :3, 3
    ]
    points = points[(points[:, 2] > -0.1) & (points[:, 2] < 2.1)]
    return set(map(tuple, np.unique(np.floor(points[:, :2] / _CELL).astype(int), axis=0).tolist()))


def _result(growth: _Growth, totals: Totals, config: dict) -> Result:
    area = np.array(growth.area)
    now = np.array([c.bytes for c in growth.cost], float)
    peak = np.array([c.peak_bytes for c in growth.cost], float)
    seconds = np.array([c.seconds for c in growth.cost])
    # Largest memory before the same size was reached permanently: the transient cost of growing.
    ratio = peak / np.maximum.accumulate(now)
    flat = _at(area, _FLAT)
    settled = area >= _FLAT if area[-1] >= _FLAT else np.ones(len(area), bool)
    slower = float(np.median(growth.late) / np.median(growth.early))
    metrics = {
        "area_m2": float(area[-1]),
        "frames": float(len(area)),
        "frames_rejected": float(sum(totals.rejected.values())),
        "flat_mib": float(now[flat] / _MIB) if area[-1] >= _FLAT else math.nan,
        "building_mib": float(now[-1] / _MIB),
        "building_peak_mib": float(peak[-1] / _MIB),
        "peak_over_steady": float(ratio[settled].max()),
        "peak_over_steady_at_end": float(ratio[-1]),
        "ms_start": 1e3 * float(np.median(growth.early)),
        "ms_end": 1e3 * float(np.median(growth.late)),
        "end_over_start": slower,
        "cpu_ms_median": 1e3 * float(np.median([c.cpu_seconds for c in growth.cost])),
        "ms_median": 1e3 * float(np.median(seconds)),
        "ms_p99": 1e3 * float(np.percentile(seconds, 99)),
        "cpu_ms_p99": 1e3 * float(np.percentile([c.cpu_seconds for c in growth.cost], 99)),
        "ms_worst": 1e3 * float(seconds.max()),
        "surface_voxels": float(totals.surface_voxels),
        "bytes_per_voxel_in_blocks": float(now[-1] / max(totals.blocks * 8**3, 1)),
        "bytes_per_surface_voxel": float(now[-1] / max(totals.surface_voxels, 1)),
        "blocks": float(totals.blocks),
        "voted_voxels": float(totals.voxels),
        "instances": float(totals.instances),
    }
    bars = [
        Bar("peak_over_steady", metrics["peak_over_steady"], _PEAK_BOUND, False),
        Bar("building_mib", metrics["building_mib"], _BUILDING_BOUND, False),
        Bar("end_over_start", slower, _SLOWER_BOUND, False),
        Bar("cpu_ms_p99", metrics["cpu_ms_p99"], _P99_BOUND, False),
    ]
    if area[-1] >= _FLAT:
        bars.insert(1, Bar("flat_mib", metrics["flat_mib"], _FLAT_BOUND, False))
    notes = [
        "Memory is what the map's process has in RAM above what it had before the map, after every frame; the peak is "
        "the kernel's. The map works on one thread and waits for nothing, so its bars are on processor time (cpu_ms); "
        "ms is the time that passed, other programs included. Start and end are processor times of the same views, "
        "taken again with a small and with the whole map.",
    ]
    if totals.rejected:
        reasons = ", ".join(f"{count} for {reason}" for reason, count in sorted(totals.rejected.items()))
        notes.append(f"The map refused frames, which are left out: {reasons}.")
    if area[-1] < _BUILDING:
        notes.append(
            f"Only {area[-1]:.0f} m2 were seen; the building's bound is meant for {_BUILDING:.0f} m2."
        )
    return Result(
        metrics, tuple(bars), (_table(growth, ratio),), (Plot("growth.png", "Memory and time per frame."),),
        tuple(notes), config,
    )  # fmt: skip


def _at(area: np.ndarray, mark: float) -> int:
    """Return the first frame after which this area was seen, the last if it never was."""
    return min(int(np.searchsorted(area, mark)), len(area) - 1)


def _table(growth: _Growth, ratio: np.ndarray) -> Table:
    area = np.array(growth.area)
    rows = []
    for mark in [mark for mark in _MARKS if mark < area[-1]] + [float(area[-1])]:
        i = _at(area, mark)
        recent = 1e3 * np.array([c.cpu_seconds for c in growth.cost[max(0, i - 99) : i + 1]])
        cost = growth.cost[i]
        rows.append(
            (f"{area[i]:.0f}", str(i + 1), f"{cost.bytes / _MIB:.1f}", f"{cost.peak_bytes / _MIB:.1f}",
             f"{ratio[i]:.3f}", f"{np.median(recent):.1f}", f"{np.percentile(recent, 99):.1f}")
        )  # fmt: skip
    columns = (
        "m2 seen",
        "frames",
        "MiB",
        "peak MiB",
        "peak / steady",
        "median cpu ms of 100 frames",
        "p99 cpu ms",
    )
    return Table("Growth", columns, tuple(rows))


def _plot(growth: _Growth, file: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 4.0), dpi=110, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    memory, times = figure.subplots(1, 2)
    memory.plot(growth.area, [c.peak_bytes / _MIB for c in growth.cost], color="#d64545", label="peak so far")
    memory.plot(growth.area, [c.bytes / _MIB for c in growth.cost], color="#0b7a75", label="after the frame")
    memory.set(title="Memory of the map", xlabel="m² seen", ylabel="MiB", xlim=(0, None), ylim=(0, None))
    memory.legend(frameon=False)
    times.plot(growth.area, [1e3 * c.cpu_seconds for c in growth.cost], ".", markersize=2, color="#3e7cb1")
    times.set(
        title="Processor time per frame, 640x480",
        xlabel="m² seen",
        ylabel="ms",
        xlim=(0, None),
        ylim=(0, None),
    )
    for axes in (memory, times):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file)


BENCHMARK = Benchmark(
    "growth", "Memory and time per frame while the voxel map grows to a whole building.", _add_options, _run
)
