"""Observation of this computer: disk, memory, GPU, multicast, and the environment of the stack's processes."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from lodestar.storage.private import state_home
from lodestar_ros.doctor.findings import LocalProcess, Machine

_MIB = 2**20
_MULTICAST = 0x1000  # the flag IFF_MULTICAST
_RANGE = "ROS_AUTOMATIC_DISCOVERY_RANGE"
_CONFINING = (("ROS_LOCALHOST_ONLY", "1"), (_RANGE, "LOCALHOST"), (_RANGE, "OFF"))
_LOOPBACK = "fastdds_udp.xml"  # the profile with which go2_base does not hear the robot
_CUDA_PATIENCE = 30.0  # s for loading torch in a separate process


def observe_machine() -> Machine:
    """Return the facts about this computer."""
    jetson = Path("/etc/nv_tegra_release").exists()
    folder = state_home()
    while not folder.exists():
        folder = folder.parent
    return Machine(
        shm_free=_free("/dev/shm"),
        disk_free=_free(str(folder)),
        disk_path=str(folder).replace(str(Path.home()), "~"),
        jetson=jetson,
        cuda=_cuda() if jetson else None,
        multicast=_multicast(),
        reads_text=importlib.util.find_spec("rapidocr") is not None,
        domain=os.environ.get("ROS_DOMAIN_ID", "0"),
        rmw=os.environ.get("RMW_IMPLEMENTATION", ""),
        interfaces=interfaces(),
        wanted_interfaces=wanted_interfaces(os.environ.get("CYCLONEDDS_URI", "")),
        processes=tuple(local_processes()),
    )


def _free(path: str) -> float:
    try:
        return shutil.disk_usage(path).free / _MIB
    except OSError:
        return float("nan")


def _cuda() -> bool | None:
    if importlib.util.find_spec("torch") is None:
        return None
    command = [sys.executable, "-c", "import torch; print(torch.cuda.is_available())"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_CUDA_PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout.strip() == "True" if done.returncode == 0 else None


def interfaces(folder: Path = Path("/sys/class/net")) -> tuple[str, ...]:
    """Return the names of this computer's network interfaces."""
    try:
        return tuple(sorted(entry.name for entry in folder.iterdir()))
    except OSError:
        return ()


def wanted_interfaces(uri: str) -> tuple[str, ...]:
    """Return the interfaces named in CYCLONEDDS_URI, which holds XML or the name of an XML file."""
    text = uri
    if uri and not uri.lstrip().startswith("<"):
        try:
            text = Path(uri.removeprefix("file://")).read_text()
        except OSError:
            return ()
    given = re.findall(r"<NetworkInterface\s[^>]*\bname\s*=\s*[\"']([^\"']+)", text)
    given += re.findall(r"<NetworkInterfaceAddress>\s*([^<\s]+)", text)
    return tuple(name for name in given if name != "auto" and not name[:1].isdigit())


def _multicast() -> bool:
    try:
        return bool(int(Path("/sys/class/net/lo/flags").read_text(), 16) & _MULTICAST) or not _confined()
    except (OSError, ValueError):
        return True


def _confined() -> bool:
    """Return whether nodes discover each other on the loopback interface only."""
    cyclone = os.environ.get("RMW_IMPLEMENTATION", "").endswith("cyclonedds_cpp")
    # Fast DDS discovers nodes on one computer without multicast
    return cyclone and bool(confined_by(os.environ))


def confined_by(environment: Mapping[str, str]) -> str:
    """Return the setting that confines ROS to this computer, as NAME=VALUE; "" if there is none.

    Humble supports only ROS_LOCALHOST_ONLY; later distributions prefer it to the discovery range.
    """
    humble = environment.get("ROS_DISTRO", "") == "humble"
    known = _CONFINING[:1] if humble else _CONFINING
    return next((f"{name}={value}" for name, value in known if environment.get(name, "") == value), "")


def local_processes(proc: Path = Path("/proc")) -> Iterator[LocalProcess]:
    """Yield the processes of this user that run a Lodestar node."""
    for folder in proc.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            name = next((w[8:].decode() for w in words if w.startswith(b"__node:=")), "")
            if not name or not any(b"/lib/lodestar_" in word for word in words):
                continue
            given = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        pairs = dict(entry.split(b"=", 1) for entry in given if b"=" in entry)
        values = {
            key.decode(errors="replace"): value.decode(errors="replace") for key, value in pairs.items()
        }
        profile = values.get("FASTDDS_DEFAULT_PROFILES_FILE", "")
        yield LocalProcess(
            int(folder.name),
            name,
            values.get("ROS_DOMAIN_ID", "0"),
            values.get("RMW_IMPLEMENTATION", ""),
            confined_by(values) or (_LOOPBACK if name == "go2_base" and profile.endswith(_LOOPBACK) else ""),
        )


def head_of(path: str) -> bytes | None:
    """Return the first bytes of a file, None if it does not exist."""
    try:
        with Path(path).expanduser().open("rb") as file:
            return file.read(64)
    except OSError:
        return None
