"""The file of a saved grid, whichever mapper has made it."""

from __future__ import annotations

from pathlib import Path

from lodestar.mapping.octomap import OctoMapper
from lodestar.mapping.scan_grid import ScanGridMapper
from lodestar.storage.archive import Archive, kind_of, read_archive

GRID_VERSIONS = {mapper.KIND: mapper.VERSION for mapper in (OctoMapper, ScanGridMapper)}


def read_grid(path: Path) -> tuple[str, Archive]:
    """Return the kind of a saved grid, and the grid. Raises ForeignFile, OtherVersion, OSError."""
    kind = kind_of(path)
    return kind, read_archive(
        path, kind if kind in GRID_VERSIONS else OctoMapper.KIND, GRID_VERSIONS.get(kind, 0)
    )
