"""Paths of parameter profiles, launch files and executables, in a checkout or an installation."""

from __future__ import annotations

import os
from pathlib import Path

# Third-party packages that no ROS distribution ships -> how to get them.
_ELSEWHERE = {
    "go2_robot_sdk": "build abizovnuralem/go2_ros2_sdk and source its workspace before env.sh, or take another driver"
}


class StackError(ValueError):
    """Raised if the stack cannot be assembled or found; the message says what to do."""


def _share() -> Path:
    """Return the folder that contains config/ and launch/: the checkout, or this package's installed share.
    Raises StackError.
    """
    checkout = Path(__file__).resolve().parents[3]
    if (checkout / "config" / "fastdds.xml").is_file():
        return checkout
    for prefix in _prefixes():
        share = prefix / "share" / "lodestar_bringup"
        if (share / "config").is_dir():
            return share
    raise StackError("config/ is neither in a checkout nor installed: run make setup, then . ./env.sh")


def config_folder() -> Path:
    """Return the folder of parameter profiles."""
    return _share() / "config"


def launch_folder() -> Path:
    """Return the folder of launch files."""
    return _share() / "launch"


def executable_path(package: str, executable: str) -> Path:
    """Return the path of a node's installed executable. Raises StackError if it is not installed."""
    for prefix in _prefixes():
        path = prefix / "lib" / package / executable
        if path.is_file():
            return path
    do = _ELSEWHERE.get(package, "run make setup, then . ./env.sh")
    raise StackError(f"{package}/{executable} is not installed: {do}")


def _prefixes() -> list[Path]:
    return [Path(part) for part in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if part]
