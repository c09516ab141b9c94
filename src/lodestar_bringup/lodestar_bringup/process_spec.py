"""One process of a stack: its command line and its environment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from lodestar_bringup.places import config_folder, executable_path

# Every process maps a segment of shared memory that is fully resident: 32 MiB for publishers of images, clouds or
# trees, which hold ten images of 1280x720, and 8 MiB for the others, which can receive them nevertheless.
MIDDLEWARE = "fastdds.xml"
SMALL_MIDDLEWARE = "fastdds_small.xml"
# The processes that stop the robot have no shared memory: see the file. go2_stand_in is the robot that hears them.
STOPPING_MIDDLEWARE, LOCAL_STOPPING_MIDDLEWARE = "fastdds_udp.xml", "fastdds_udp_local.xml"
_SHIPPED = (MIDDLEWARE, SMALL_MIDDLEWARE, STOPPING_MIDDLEWARE, LOCAL_STOPPING_MIDDLEWARE)
_PROFILE, _RANGE = "FASTDDS_DEFAULT_PROFILES_FILE", "ROS_AUTOMATIC_DISCOVERY_RANGE"
_STOPPING = ("motion_gate", "go2_base", "go2_guard", "go2_stand_in")
_LARGE_MESSAGES = ("sim", "player", "perception", "mapping", "slam_stand_in", "semantic_voxels")

# Every process computes on one thread of BLAS and OpenMP: fifteen processes share the cores. The ray caster of the
# simulator has threads of its own, which these do not limit. Two arenas of malloc instead of eight per core.
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
    middleware: str = MIDDLEWARE  # the Fast DDS profile in config/
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    restart: bool = True  # started again where it dies; see supervision.py
    needed: bool = True  # the stack ends where it cannot be kept alive; see supervision.py
    keeps: bool = False  # goes on after a restart from what it kept in the folder of the run

    def process_environment(self) -> dict[str, str]:
        """Return the process's environment variables; the user's own middleware profile takes precedence."""
        shipped = {"", *(str(config_folder() / name) for name in _SHIPPED)}
        own = os.environ.get(_PROFILE, "")
        if own not in shipped:
            return {_PROFILE: own, **self.environment}
        local = os.environ.get(_RANGE, "").upper() == "LOCALHOST"
        if self.middleware == STOPPING_MIDDLEWARE and local and _on_fast_dds():
            file = config_folder() / LOCAL_STOPPING_MIDDLEWARE
            return {_PROFILE: str(file), _RANGE: "SYSTEM_DEFAULT", **self.environment}
        return {_PROFILE: str(config_folder() / self.middleware), **self.environment}

    def in_run(self, folder: Path, name: str) -> ProcessSpec:
        """Return the spec with the folder and the name of a run of the stack, where it keeps something there."""
        if not self.keeps:
            return self
        given = {"checkpoint.folder": str(folder), "checkpoint.run": name}
        return replace(self, parameters={**self.parameters, **given})

    def command(self) -> list[str]:
        """Return the command line without `ros2 launch`; later parameters override files."""
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
    """Return whether the processes use Fast DDS, which is the default; another middleware ignores its profiles."""
    return (os.environ.get("RMW_IMPLEMENTATION") or "rmw_fastrtps_cpp").startswith("rmw_fastrtps")


def middleware_of(name: str) -> str:
    """Return the Fast DDS profile of a process."""
    if name in _STOPPING:
        return STOPPING_MIDDLEWARE
    return MIDDLEWARE if name in _LARGE_MESSAGES else SMALL_MIDDLEWARE
