"""The plan grid and its mapper in a file, whichever mapper has made it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.storage.archive import Archive

Mapper: TypeAlias = OctoMapper | ScanGridMapper
VERSIONS = {mapper.KIND: mapper.VERSION for mapper in (OctoMapper, ScanGridMapper)}


def grid_archive(mapper: Mapper, now: float) -> Archive:
    """Return the archive of a plan mapper. now: seconds."""
    meta: dict[str, Any] = {"free_m2": mapper.project(now).free_area}
    if mapper.map_from_odom is not None:
        meta["map_from_odom"] = mapper.map_from_odom.tolist()
    return Archive(mapper.KIND, mapper.VERSION, meta, mapper.to_arrays())


def resume_odometry(mapper: Mapper, archive: Archive) -> Mapper:
    """Return the mapper of an archive whose odometry goes on, so that a jump since then is applied."""
    if "map_from_odom" in archive.meta:
        mapper.resume_odometry(np.array(archive.meta["map_from_odom"], np.float64).reshape(4, 4))
    return mapper
