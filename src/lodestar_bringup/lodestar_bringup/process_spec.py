"""One process of a stack: its command line and its environment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from lodestar_bringup.places import config_folder, executable_path

# A process with images maps a segment of shared memory that is fully resident: 32 MiB for publishers of images, clouds
# or octrees (ten images of 1280x720), and 8 MiB for others that may receive them.
MIDDLEWARE = "fastdds.xml"
SMALL_MIDDLEWARE = "fastdds_small.xml"
# Processes that stop the robot or decide use no shared memory: one that is killed may hold a lock of it (see the file),
# and its neighbours then hear nothing. Experts keep it, for images. go2_stand_in plays the robot that receives stops.
UDP_MIDDLEWARE = "fastdds_udp.xml"
# All of these keep to the loopback. Where ROS may leave this computer, those that speak to the Go2 use its cable too.
ON_CABLE: Mapping[str, str] = MappingProxyType(
    {"go2_lidar": "fastdds_cable.xml", **dict.fromkeys(("go2_base", "go2_guard"), "fastdds_udp_cable.xml")}
)
_SHIPPED = (MIDDLEWARE, SMALL_MIDDLEWARE, UDP_MIDDLEWARE, *ON_CABLE.values())
_PROFILE, _RANGE = "FASTDDS_DEFAULT_PROFILES_FILE", "ROS_AUTOMATIC_DISCOVERY_RANGE"
_LOCAL_ONLY = "ROS_LOCALHOST_ONLY"  # all that Humble knows; later distributions prefer it to the range
_UDP_ALONE = (
    "motion_gate", "go2_base", "go2_guard", "go2_stand_in", "goal_selector", "sim_navigator", "world_model",
    "scene_dictionary", "memory", "text_embedder", "operator",
)  # fmt: skip
_LARGE_MESSAGES = ("sim", "player", "perception", "mapping", "slam_stand_in", "semantic_voxels")

# Every process uses one thread of BLAS and OpenMP, because fifteen processes share the cores. The simulator's ray
# caster has its own threads, which this does not limit. Two malloc arenas instead of eight per core.
ONE_THREAD: Mapping[str, str] = MappingProxyType(
    {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
)


@dataclass(frozen=True)
class ProcessSpec:
    """One process: executable, node name, parameters and remaps."""

    package: str
    executable: str
    name: str
    parameter_files: tuple[Path, ...] = ()
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    remappings: tuple[tuple[str, str], ...] = ()
    namespace: str = ""
    middleware: str = MIDDLEWARE  # file name of the Fast DDS profile in config/
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    restart: bool = True  # restart the process if it dies; see supervision.py
    needed: bool = True  # end the stack if the process cannot be kept running; see supervision.py
    keeps: bool = False  # the process continues after a restart from its checkpoint in the run's folder

    def process_environment(self) -> dict[str, str]:
        """Return the process's environment variables; the user's own middleware profile takes precedence."""
        shipped = {"", *(str(config_folder() / name) for name in _SHIPPED)}
        own = os.environ.get(_PROFILE, "")
        if own not in shipped:
            return {_PROFILE: own, **self.environment}
        only = os.environ.get(_LOCAL_ONLY) == "1"
        local = only or os.environ.get(_RANGE, "").upper() in ("LOCALHOST", "OFF")
        file = self.middleware if local else ON_CABLE.get(self.name, self.middleware)
        # Fast DDS adds transports of its own for every other setting
        left = {_RANGE: "SYSTEM_DEFAULT", **({_LOCAL_ONLY: "0"} if only else {})} if _on_fast_dds() else {}
        return {_PROFILE: str(config_folder() / file), **left, **self.environment}

    def in_run(self, folder: Path, name: str) -> ProcessSpec:
        """Return the spec with the folder and name of the stack's run as parameters, if it writes
        checkpoints.
        """
        if not self.keeps:
            return self
        given = {"checkpoint.folder": str(folder), "checkpoint.run": name}
        return replace(self, parameters={**self.parameters, **given})

    def command(self) -> list[str]:
        """Return the command line to execute without `ros2 launch`; parameters override parameter files."""
        line = [str(executable_path(self.package, self.executable)), "--ros-args"]
        line += ["-r", f"__node:={self.name}"]
        if self.namespace:
            line += ["-r", f"__ns:=/{self.namespace.strip('/')}"]
        for path in self.parameter_files:
            line += ["--params-file", str(path)]
        for name, value in self.parameters.items():
            line += ["-p", f"{name}:={json.dumps(value)}"]
        for source, target in self.remappings:
            line += ["-r", f"{source}:={target}"]
        return line


def _on_fast_dds() -> bool:
    """Return whether the processes use Fast DDS, the default; another middleware ignores its profiles."""
    return (os.environ.get("RMW_IMPLEMENTATION") or "rmw_fastrtps_cpp").startswith("rmw_fastrtps")


def middleware_of(name: str) -> str:
    """Return the file name of a process's Fast DDS profile."""
    if name in _UDP_ALONE:
        return UDP_MIDDLEWARE
    return MIDDLEWARE if name in _LARGE_MESSAGES else SMALL_MIDDLEWARE
