"""Conversion of a mapper of 2-D occupancy grids to an archive, and continuation of a restored one."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lodestar.mapping.occupancy.octomap import OctoMapper
from lodestar.mapping.occupancy.scan_grid import ScanGridMapper
from lodestar.storage.archive import Archive

Mapper: TypeAlias = OctoMapper | ScanGridMapper
VERSIONS = {mapper.KIND: mapper.VERSION for mapper in (OctoMapper, ScanGridMapper)}


def grid_archive(mapper: Mapper, now: float) -> Archive:
    """Return the archive of a mapper of 2-D grids. now: stamp, seconds."""
    meta: dict[str, Any] = {"free_m2": mapper.project(now).free_area}
    if mapper.anchor.last is not None:
        meta["map_from_odom"] = mapper.anchor.last.tolist()
    return Archive(mapper.KIND, mapper.VERSION, meta, mapper.to_arrays())


def resume_odometry(mapper: Mapper, archive: Archive) -> Mapper:
    """Continue the restored mapper in the archive's odometry frame; return the mapper.

    A jump of map <- odom since the archive was written is then applied.
    """
    if "map_from_odom" in archive.meta:
        mapper.anchor.resume(np.array(archive.meta["map_from_odom"], np.float64).reshape(4, 4))
    return mapper
