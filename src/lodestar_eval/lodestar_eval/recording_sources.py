"""Opens recordings of any kind by path."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lodestar_eval.recordings import BadRecording, FolderRecording, Recording


def open_recording(path: Path, map_from_world: np.ndarray | None = None) -> Recording:
    """Return the recording in a folder of numbered images, or in a rosbag2 or MCAP bag. Raises BadRecording.

    map_from_world: (4, 4), for a folder only; a bag has its own map frame.
    """
    path = Path(path).expanduser()
    if not path.exists():
        raise BadRecording(f"{path}: there is nothing")
    if _is_bag(path):
        from lodestar_eval.bags import BagRecording  # imported late: it needs ROS messages, unlike folders

        return BagRecording(path)
    return FolderRecording(path, map_from_world=map_from_world)


def _is_bag(path: Path) -> bool:
    """Return whether the path is a bag file, or a folder that contains one, with or without metadata.yaml."""
    if path.is_dir():
        return any(next(path.glob(name), None) for name in ("metadata.yaml", "*.mcap", "*.db3*", "part_*"))
    return path.suffix in (".mcap", ".db3", ".bag", ".zstd") or path.name == "metadata.yaml"
