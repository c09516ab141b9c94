"""Time to save and load a furnished building: octree and grid, voxels, surfaces and entities."""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lodestar.assembly.config import RobotConfig
from lodestar.assembly.local_map import LocalMap
from lodestar.models.phrases import PhraseBook
from lodestar.storage.saved_map import ArchivePart, load_map, save_map
from lodestar.storage.snapshot import SnapshotFolder
from lodestar_eval.map_size_building import add_building_options, open_building
from lodestar_eval.options import positive_int
from lodestar_eval.registry import Bar, Benchmark, Result, Table

_BOUND_S = 10.0  # issue 3: of saving and of loading
_MIB = 2**20
_LATER = 1e9  # s, when it is loaded
_ROBOT = RobotConfig()
_LOOKS = 3  # frames of every view: the observations that confirm an instance


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_building_options(parser)
    parser.add_argument(
        "--rounds", type=positive_int, default=3, help="times it is saved and loaded (default 3)"
    )
    parser.add_argument("--views", type=positive_int, default=5, help="per stop of the sweep (default 5)")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    _, world = open_building(options)
    made = _mapped(world, options, progress)
    voxels, scene = made.voxels.map, made.scene.dictionary
    place = folder / "map"
    saves, loads, sizes = [], [], {}
    for number in range(options.rounds):
        began = time.perf_counter()
        sizes = _save(place, made)
        saves.append(time.perf_counter() - began)
        other = LocalMap(_ROBOT, PhraseBook())
        began = time.perf_counter()
        _load(place, other)
        loads.append(time.perf_counter() - began)
        same = other.voxels.map.voxel_count == voxels.voxel_count and len(other.scene.dictionary) == len(
            scene
        )
        if not same or _free(other) != _free(made):
            raise RuntimeError("what was loaded is not what was saved")
        progress(f"round {number + 1}: saved in {saves[-1]:.1f} s, loaded in {loads[-1]:.1f} s")
    shutil.rmtree(place)
    covered = float(len(np.unique(np.floor(voxels.mesh().vertices[:, :2]), axis=0)))
    metrics = {
        "save_s": float(np.median(saves)), "load_s": float(np.median(loads)), "save_worst_s": max(saves),
        "load_worst_s": max(loads), "voxels": float(voxels.voxel_count), "blocks": float(voxels.geometry.blocks.live),
        "entities": float(len(scene)), "area_m2": covered, **{f"{k}_mib": v / _MIB for k, v in sizes.items()},
    }  # fmt: skip
    bars = tuple(Bar(name, metrics[name], _BOUND_S, at_least=False) for name in ("save_s", "load_s"))
    rows = tuple((name, f"{value:,.1f}") for name, value in metrics.items())
    notes = (
        "Times are of the whole: gathering, checksums, files and folders made durable; checking, indexing and "
        "measuring every instance anew. Files lie on the disk of the report's folder.",
        f"{covered:.0f} m2 have something mapped on or above them.",
    )
    return Result(metrics, bars, (Table("Saving and loading", ("what", "value"), rows),), notes=notes)


def _mapped(world: object, options: argparse.Namespace, progress: Callable[[str], None]) -> LocalMap:
    """Return the map after a sweep through the building."""
    from lodestar_eval.sweep import Sweep, SweepConfig

    sweep = Sweep(world, options.seed, SweepConfig(views=options.views, width=320, height=240))  # type: ignore[arg-type]
    made = LocalMap(_ROBOT, PhraseBook())
    voxels, scene = made.voxels.map, made.scene.dictionary
    grid: Any = made.plan.mapper
    for number, (frame, segmented) in enumerate(sweep.frames()):
        for look in range(_LOOKS):
            stamp = frame.stamp + look * sweep.config.interval / _LOOKS
            scene.update(voxels.fuse(replace(frame, stamp=stamp), replace(segmented, stamp=stamp)))
        voxels.integrate_depth(frame)
        grid.insert_depth(frame)
        if number % 200 == 0:
            progress(f"frame {number} of {len(sweep)}: {len(scene)} entities")
    made.scene.flush()
    return made


def _free(made: LocalMap) -> float:
    """Return the free area of the plan in m^2."""
    return made.plan.mapper.project(0.0).free_area


def _parts(made: LocalMap) -> tuple[ArchivePart[Any], ...]:
    """Return the parts of the map, as the nodes save and load them."""
    later = lambda: _LATER  # noqa: E731
    return made.scene.part(later), made.plan.part(lambda: 0.0), made.voxels.part(later)


def _save(place: Path, made: LocalMap) -> dict[str, float]:
    """Write all parts to a snapshot; return their sizes in bytes."""
    save_map(SnapshotFolder(place), _parts(made), {})
    part, _ = SnapshotFolder(place).open()
    return {path.stem: float(path.stat().st_size) for path in part.glob("*.lodestar")}


def _load(place: Path, into: LocalMap) -> None:
    load_map(place, _parts(into))
    into.scene.flush()


BENCHMARK = Benchmark("saveload", "A whole building saved and loaded.", _add_options, _run)
