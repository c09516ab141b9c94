"""Opens a recording of any kind by its path."""

from __future__ import annotations

from pathlib import Path

from lodestar_eval.recordings import BadRecording, FolderRecording, Recording


def open_recording(path: Path) -> Recording:
    """Return the recording in a folder of numbered images, or in a rosbag2 or MCAP bag. Raises BadRecording."""
    path = Path(path).expanduser()
    if not path.exists():
        raise BadRecording(f"{path}: there is nothing")
    if path.suffix in (".mcap", ".db3", ".bag") or (path / "metadata.yaml").exists():
        from lodestar_eval.bags import BagRecording  # needs ROS messages, which folders do not

        return BagRecording(path)
    return FolderRecording(path)
