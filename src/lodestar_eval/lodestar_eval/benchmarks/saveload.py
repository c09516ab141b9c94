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

from lodestar_eval.map_size_building import add_building_options, open_building
from lodestar_eval.options import positive_int
from lodestar_eval.registry import Bar, Benchmark, Result, Table

_BOUND_S = 10.0  # issue 3: of saving and of loading
_MIB = 2**20
_LOOKS = 3  # frames of every view: the observations that confirm an instance


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_building_options(parser)
    parser.add_argument(
        "--rounds", type=positive_int, default=3, help="times it is saved and loaded (default 3)"
    )
    parser.add_argument("--views", type=positive_int, default=5, help="per stop of the sweep (default 5)")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    _, world = open_building(options)
    grid, voxels, scene = _mapped(world, options, progress)
    place = folder / "map"
    saves, loads, sizes = [], [], {}
    for number in range(options.rounds):
        began = time.perf_counter()
        sizes = _save(place, grid, voxels, scene)
        saves.append(time.perf_counter() - began)
        began = time.perf_counter()
        free, other, entities = _load(place, voxels.config)
        loads.append(time.perf_counter() - began)
        if other.voxel_count != voxels.voxel_count or entities != len(scene) or free != _free(grid):
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


def _mapped(world: object, options: argparse.Namespace, progress: Callable[[str], None]) -> tuple:
    """Return grid, voxels and scene after a sweep through the building."""
    from lodestar.assembly import parts
    from lodestar.assembly.config import MappingConfig
    from lodestar_eval.sweep import Sweep, SweepConfig

    sweep = Sweep(world, options.seed, SweepConfig(views=options.views, width=320, height=240))  # type: ignore[arg-type]
    voxels, scene = parts.voxel_map(), parts.scene_dictionary()
    grid: Any = parts.plan_mapper(MappingConfig())
    for number, (frame, segmented) in enumerate(sweep.frames()):
        for look in range(_LOOKS):
            stamp = frame.stamp + look * sweep.config.interval / _LOOKS
            scene.update(voxels.fuse(replace(frame, stamp=stamp), replace(segmented, stamp=stamp)))
        voxels.integrate_depth(frame)
        grid.insert_depth(frame)
        if number % 200 == 0:
            progress(f"frame {number} of {len(sweep)}: {len(scene)} entities")
    while scene.flush().updated:
        pass
    return grid, voxels, scene


def _free(grid: Any) -> float:
    """Return the free area of the plan in m^2."""
    return 0.0 if grid is None else grid.project(0.0).free_area


def _save(place: Path, grid: Any, voxels: object, scene: object) -> dict[str, float]:
    """Write all parts to a snapshot; return their sizes in bytes."""
    from lodestar.mapping import persistence as voxel_file
    from lodestar.mapping.octomap import OctoMapper
    from lodestar.scene import persistence as scene_file
    from lodestar.storage.archive import write_archive
    from lodestar.storage.snapshot import SnapshotFolder

    snapshot = SnapshotFolder(place)
    part = snapshot.begin()
    sizes = {}
    for name, module, dump in (
        ("voxels", voxel_file, lambda: voxel_file.map_to_arrays(voxels)),  # type: ignore[arg-type]
        ("scene", scene_file, lambda: scene_file.scene_to_arrays(scene)),  # type: ignore[arg-type]
    ):
        meta, arrays = dump()
        sizes[name] = float(write_archive(part / name, module.KIND, module.VERSION, meta, arrays))
    if grid is not None:
        size = write_archive(part / "grid", OctoMapper.KIND, OctoMapper.VERSION, {}, grid.to_arrays())
        sizes["grid"] = float(size)
    snapshot.commit(part, {})
    return sizes


def _load(place: Path, config: object) -> tuple:
    """Return the plan's free area, the voxel map and the number of entities."""
    from lodestar.assembly import parts
    from lodestar.assembly.config import MappingConfig
    from lodestar.mapping import persistence as voxel_file
    from lodestar.mapping.grid_archive import read_grid
    from lodestar.scene import persistence as scene_file
    from lodestar.scene.config import SceneConfig
    from lodestar.storage.archive import read_archive
    from lodestar.storage.snapshot import SnapshotFolder

    part, _ = SnapshotFolder(place).open()
    archive = read_archive(part / "scene", scene_file.KIND, scene_file.VERSION)
    state = scene_file.scene_from_arrays(archive.meta, archive.arrays, SceneConfig(), 1e9)
    archive = read_archive(part / "voxels", voxel_file.KIND, voxel_file.VERSION)
    voxels = voxel_file.map_from_arrays(archive.meta, archive.arrays, config, "+1", 1e9)  # type: ignore[arg-type]
    scene = parts.scene_dictionary()
    scene.replace(state, 1, "", "")
    while scene.flush().updated:
        pass
    grid = None
    if (part / "grid").exists():
        kind, archive = read_grid(part / "grid")
        grid = parts.plan_mapper_from(MappingConfig(), kind, archive.arrays)
    return _free(grid), voxels, len(scene)


BENCHMARK = Benchmark("saveload", "A whole building saved and loaded.", _add_options, _run)
