"""Checks of the machine before the set-up: writable folder, disk space, Python, compiler, libraries."""

from __future__ import annotations

import ctypes.util
import getpass
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO

from workspace_setup.checkout import Checkout, SetupError, step
from workspace_setup.index import network_trouble

PYTHONS = ((3, 10), (3, 11), (3, 12))
SYSTEM_DISTRIBUTIONS = ("jazzy", "kilted", "humble")
CMAKE = (3, 20)  # what the generators of messages ask for
GIB = 1 << 30
#: Bytes; measured on Debian 12 with Python 3.11 (ADR 0004): 1.9 GB in .venv, 0.1 GB built, room to work.
NEEDED = int(2.6 * GIB)
#: Bytes beside that: the CPU build of torch. PyPI's build for x86_64 includes CUDA.
NEEDED_TORCH, NEEDED_CUDA = int(1.5 * GIB), 7 * GIB


def lock(checkout: Checkout) -> IO[str]:
    """Return the open lock file that prevents two set-ups at once. Raises SetupError if a folder is not
    writable.
    """
    try:
        file = (checkout.root / ".setup.lock").open("w")
    except OSError as error:
        raise unwritable(checkout.root, error) from error
    for path in (checkout.venv, checkout.root / "build", checkout.root / "install"):
        if path.exists() and not os.access(path, os.W_OK):
            raise unwritable(path, PermissionError("Permission denied"))
    return file


def unwritable(folder: Path, error: OSError) -> SetupError:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user without an entry in /etc/passwd
        user = f"user {os.geteuid()}"
    return SetupError(
        f"{user} cannot write in {folder} ({error.strerror or error}): give the folder to that user "
        "(sudo chown -R), or clone the repository into a folder of your own"
    )


def check_disk(folder: Path, extras: frozenset[str]) -> None:
    """Check that the disk has space for a new virtual environment. Raises SetupError."""
    disk = os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize
    needed = NEEDED + (NEEDED_TORCH if extras else 0)
    if free < needed:
        raise SetupError(
            f"{free / GIB:.1f} GB of disk are free in {folder} and {needed / GIB:.1f} GB are needed"
            + (f" ({(NEEDED + NEEDED_CUDA) / GIB:.0f} GB where torch comes with CUDA)" if extras else "")
            + ": free some, or clone the repository onto a larger disk"
        )


def system_ros() -> Path | None:
    """Return the prefix of an installed ROS 2, or None if the ROS 2 wheels must be used. Raises SetupError
    where there are no wheels.
    """
    distribution = os.environ.get("ROS_DISTRO", "")
    candidates = [distribution] if distribution else list(SYSTEM_DISTRIBUTIONS)
    for name in candidates:
        prefix = Path("/opt/ros") / name
        if name in SYSTEM_DISTRIBUTIONS and (prefix / "setup.bash").is_file():
            return prefix
    if platform.machine() != "x86_64":
        raise SetupError(
            f"the ROS 2 wheels exist for x86_64 only and this is {platform.machine()}: install ROS 2 "
            "(Humble, Jazzy or Kilted) under /opt/ros, then run this again"
        )
    return None


def find_python(checkout: Checkout, *, system: bool) -> str:
    """Return the path of a supported Python; with a system ROS 2 it is the one that ROS was built for.

    Raises SetupError if there is none. system: use a system ROS 2.
    """
    if system:
        return "/usr/bin/python3"
    names = [
        os.environ.get("PYTHON", ""),
        sys.executable,
        "python3.12",
        "python3.11",
        "python3.10",
        "python3",
    ]
    others = set()
    for name in filter(None, names):
        found = shutil.which(name)
        version = version_of(found) if found else ()
        if found and version[:2] in PYTHONS:
            return base_of(checkout, found)
        others |= {".".join(map(str, version[:2]))} if version else set()
    there = f" and there is only {', '.join(sorted(others))}" if others else ""
    raise SetupError(
        f"Python 3.10, 3.11 or 3.12 is needed{there}: install one beside it (apt-get install python3.12 "
        "python3.12-venv python3.12-dev, or pyenv), then: make setup PYTHON=python3.12"
    )


def base_of(checkout: Checkout, python: str) -> str:
    """Return the interpreter, or the one that created `.venv` if it lies in `.venv`: a shell that has sourced
    env.sh finds that one first, and an environment cannot be rebuilt by its own interpreter.
    """
    return python if checkout.venv not in Path(python).parents else installed_interpreter(python)


def installed_interpreter(python: str) -> str:
    """Return the path of the installed Python behind an interpreter, which may be a link, a version manager's
    script or the interpreter of a virtual environment.
    """
    code = "import os, sys; print(os.path.realpath(sys._base_executable))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def version_of(python: str) -> tuple[int, ...]:
    """Return (major, minor, micro) of an interpreter, () if it does not run."""
    code = "import sys; print(*sys.version_info[:3])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return tuple(int(part) for part in done.stdout.split()) if done.returncode == 0 else ()


def missing_apt(checkout: Checkout, python: str) -> list[str]:
    """Return the apt packages whose contents are not found on this machine."""
    probe = (
        "import importlib.util as u, os, sysconfig;"
        "print(u.find_spec('ensurepip') is not None,"
        "os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')))"
    )
    has_venv, has_headers = subprocess.run(
        [python, "-c", probe], capture_output=True, text=True, check=True
    ).stdout.split()
    suffix = ".".join(map(str, version_of(python)[:2]))
    distribution_python = Path(python).resolve().parent == Path("/usr/bin")
    stem = "python3" if Path(python).name == "python3" or not distribution_python else f"python{suffix}"
    present = {
        "g++": shutil.which("g++") is not None,
        "cmake": shutil.which("cmake") is not None,
        "make": shutil.which("make") is not None,
        f"{stem}-venv": has_venv == "True" or checkout.python.exists(),
        f"{stem}-dev": has_headers == "True",
        "libusb-1.0-0": ctypes.util.find_library("usb-1.0") is not None,
        "libgl1": ctypes.util.find_library("GL") is not None,
        "libegl1": ctypes.util.find_library("EGL") is not None,
        "libgomp1": ctypes.util.find_library("gomp") is not None,
    }
    return [name for name, there in present.items() if not there]


def check_apt(checkout: Checkout, python: str) -> None:
    """Install the missing apt packages as root; otherwise say which are missing and how to get them."""
    missing = missing_apt(checkout, python)
    if missing:
        command = f"apt-get install -y --no-install-recommends {' '.join(missing)}"
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise SetupError(f"missing: {' '.join(missing)}. Run: sudo apt-get update && sudo {command}")
        with step(f"apt: {' '.join(missing)}"):
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            for name, words in (("apt-update", "apt-get update -q"), ("apt-install", command)):
                checkout.run(
                    words.split(), name, "check the network and /etc/apt", environment, network_trouble
                )
    check_cmake()


def check_cmake() -> None:
    """Check that CMake is new enough. Raises SetupError."""
    done = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"(\d+)\.(\d+)", done.stdout)
    if found and (int(found[1]), int(found[2])) < CMAKE:
        raise SetupError(
            f"CMake {CMAKE[0]}.{CMAKE[1]} or newer is needed and {found[0]} is installed: pip install --user cmake, "
            "and put its folder first in PATH"
        )
