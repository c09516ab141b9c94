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
_LATER = 1e9  # s, when it is loaded
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
        free, other, entities = _load(place, voxels)
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


def _parts(grid: Any, voxels: Any, scene: Any, put: Callable[[Any], Callable[[], None]]) -> tuple[Any, ...]:
    """Return the parts of the map, as the nodes save and load them. put: takes a loaded grid or voxel map."""
    from lodestar.mapping.grid_file import grid_archive, grid_part
    from lodestar.mapping.octomap import OctoMapper
    from lodestar.mapping.persistence import voxel_part
    from lodestar.scene.persistence import scene_part

    def use(saved: Any) -> Callable[[], None]:
        return scene.replace(saved.state, saved.map_id, saved.session_id)  # type: ignore[no-any-return]

    return (
        scene_part(scene, lambda: _LATER, use),
        grid_part(lambda: grid_archive(grid, 0.0), lambda saved: OctoMapper.from_arrays(saved.arrays), put),
        voxel_part(voxels.config, lambda: voxels, put, lambda: _LATER, mark="1"),
    )


def _save(place: Path, grid: Any, voxels: object, scene: object) -> dict[str, float]:
    """Write all parts to a snapshot; return their sizes in bytes."""
    from lodestar.storage.saved_map import save_map
    from lodestar.storage.snapshot import SnapshotFolder

    save_map(SnapshotFolder(place), _parts(grid, voxels, scene, _drop), {})
    part, _ = SnapshotFolder(place).open()
    return {path.stem: float(path.stat().st_size) for path in part.glob("*.lodestar")}


def _drop(_part: object) -> Callable[[], None]:
    return lambda: None


def _load(place: Path, voxels: object) -> tuple:
    """Return the plan's free area, the voxel map and the number of entities."""
    from lodestar.assembly import parts
    from lodestar.storage.saved_map import load_map

    found: list[Any] = []

    def put(part: Any) -> Callable[[], None]:
        found.append(part)
        return found.pop

    scene = parts.scene_dictionary()
    load_map(place, _parts(None, voxels, scene, put))
    while scene.flush().updated:
        pass
    grid, loaded = found
    return _free(grid), loaded, len(scene)


BENCHMARK = Benchmark("saveload", "A whole building saved and loaded.", _add_options, _run)
