"""Checks before anything is started: arguments that fit the use, installed packages, no second stack."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lodestar_bringup.places import StackError, executable_path
from lodestar_bringup.process_spec import ProcessSpec

_log = logging.getLogger(__name__)
_FOUND = 3  # exit status of `lodestar_ros.twins`

# Third-party packages that options start.
NAV2_PACKAGES = (
    "nav2_planner",
    "nav2_controller",
    "nav2_behaviors",
    "nav2_bt_navigator",
    "nav2_velocity_smoother",
    "nav2_lifecycle_manager",
    "nav2_smac_planner",
    "nav2_mppi_controller",
)
SLAM_PACKAGES = ("slam_toolbox",)
RVIZ_PACKAGES = ("rviz2",)


def seed_of(text: str) -> int:
    """Return the launch argument `seed` as a number. Raises StackError for anything else."""
    try:
        return int(text)
    except ValueError:
        raise StackError(f"seed:={text} is no whole number; write for example seed:=7") from None


def rate_of(text: str) -> float:
    """Return the launch argument `rate` as a number. Raises StackError for anything else."""
    try:
        return float(text)
    except ValueError:
        raise StackError(f"rate:={text} is no number; write for example rate:=0.5") from None


def needed_packages(slam: str, navigator: str, rviz: bool) -> dict[str, str]:
    """Return package -> launch option for the third-party ROS packages that these options need."""
    needed = dict.fromkeys(SLAM_PACKAGES if slam == "slam_toolbox" else (), "slam:=slam_toolbox")
    needed |= dict.fromkeys(NAV2_PACKAGES if navigator == "nav2" else (), "navigator:=nav2")
    return needed | dict.fromkeys(RVIZ_PACKAGES if rviz else (), "rviz:=true")


def share_of(package: str) -> Path | None:
    """Return the share folder of an installed package, None if it is not installed."""
    from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

    try:
        return Path(get_package_share_directory(package))
    except PackageNotFoundError:
        return None


def refuse_missing(
    needed: dict[str, str], specs: Iterable[ProcessSpec] = (), share: Callable[[str], Path | None] = share_of
) -> None:
    """Raise StackError that names the missing packages and how to get them, or a node that is not installed."""
    missing = [package for package in needed if share(package) is None]
    if missing:
        distribution = os.environ.get("ROS_DISTRO") or "jazzy"
        names = " ".join(f"ros-{distribution}-{package.replace('_', '-')}" for package in missing)
        options = " and ".join(dict.fromkeys(needed[package] for package in missing))
        raise StackError(
            f"{options} needs {', '.join(missing)}: sudo apt-get install {names}. Nothing was started."
        )
    for spec in specs:
        executable_path(spec.package, spec.executable)


def refuse_beside_another(specs: Sequence[ProcessSpec]) -> None:
    """Raise StackError if a node of this stack already runs in this domain and namespace."""
    names = [f"/{spec.namespace.strip('/')}/{spec.name}".replace("//", "/") for spec in specs]
    command = [sys.executable, "-m", "lodestar_ros.twins", *names]
    looked = subprocess.run(command, capture_output=True, text=True, check=False)
    if looked.returncode == _FOUND:
        raise StackError(looked.stdout.strip())
    if looked.returncode:
        last = (looked.stderr.strip().splitlines() or ["no reason given"])[-1]
        _log.warning("it is not known whether another stack runs: %s", last)
