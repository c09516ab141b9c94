"""Set up the workspace: apt packages, virtual environment, ROS 2 wheels, colcon build, compiled kernels.

Standard library only: it runs before anything is installed. Running it again does only what has changed.
"""

from __future__ import annotations

import argparse
import ctypes.util
import fcntl
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from local_requirements import without_replaced

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
STAMPS = VENV / "stamps"
LOCAL = (
    ROOT / "requirements" / "local.txt"
)  # of this computer alone; its packages replace those of the same names
VENV_PYTHON = VENV / "bin" / "python"
PYTHONS = ((3, 10), (3, 11), (3, 12))
SYSTEM_DISTRIBUTIONS = ("jazzy", "kilted", "humble")
INDEX = "share/ament_index/resource_index/packages"
COLCON_FOLDERS = ("build", "install", "log")
CORE = "lodestar"  # the package that needs no other, and has the loops that numba compiles
# PyPI's torch for x86_64 is the CUDA build; README says how to have the other.
SIZES = "3.5 GB of disk with a CPU build of torch, 8 GB with a CUDA build"
UV = "uv>=0.5,<1"  # the installer; what it installs stands in requirements/
# What a package's build depends on; with --symlink-install a changed .py needs no rebuild.
BUILD_INPUTS = ("package.xml", "setup.py", "setup.cfg", "CMakeLists.txt", "*.msg", "*.srv", "*.action")


class SetupError(Exception):
    """Something the user has to put right; the message says what and how."""


def say(message: str) -> None:
    print(f"[setup] {message}", flush=True)


def main() -> int:
    """Bring the checkout to where nodes, tests and benchmarks run; 0 on success."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-build", action="store_true", help="stop after the Python environment")
    arguments = parser.parse_args()
    began = time.monotonic()
    with (ROOT / ".setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            prefix = system_ros()
            python = find_python(system=prefix is not None)
            check_apt(python)
            make_environment(python, prefix)
            if not arguments.no_build:
                build_workspace(prefix)
                compile_kernels()
        except SetupError as error:
            print(f"[setup] error: {error}", file=sys.stderr)
            return 1
    say(f"ready in {time.monotonic() - began:.1f} s")
    return 0


# --- which ROS, which Python ---------------------------------------------------------------------------


def system_ros() -> Path | None:
    """Return the prefix of an installed ROS 2, or None where the wheels have to serve."""
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


def find_python(*, system: bool) -> str:
    """Return an interpreter of a supported version; a system ROS 2 needs the one it was built for."""
    if system:
        return "/usr/bin/python3"
    names = [os.environ.get("PYTHON", ""), sys.executable, "python3.12", "python3.11", "python3.10"]
    for name in filter(None, names):
        found = shutil.which(name)
        if found and version_of(found)[:2] in PYTHONS:
            return base_of(found)
    raise SetupError("Python 3.10, 3.11 or 3.12 is needed: apt-get install python3, or set PYTHON")


def base_of(python: str) -> str:
    """Return the interpreter that `.venv` was made with where this is the one in it: a shell that has sourced env.sh
    finds that first, and an environment cannot be made anew by itself.
    """
    if not Path(python).is_relative_to(VENV):
        return python
    code = "import sys; print(sys._base_executable)"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def version_of(python: str) -> tuple[int, ...]:
    """Return (major, minor, micro) of an interpreter, () where it does not run."""
    code = "import sys; print(*sys.version_info[:3])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return tuple(int(part) for part in done.stdout.split()) if done.returncode == 0 else ()


# --- apt -----------------------------------------------------------------------------------------------


def missing_apt(python: str) -> list[str]:
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
        f"{stem}-venv": has_venv == "True" or VENV_PYTHON.exists(),
        f"{stem}-dev": has_headers == "True",
        "libusb-1.0-0": ctypes.util.find_library("usb-1.0") is not None,
        "libgl1": ctypes.util.find_library("GL") is not None,
        "libgomp1": ctypes.util.find_library("gomp") is not None,
    }
    return [name for name, there in present.items() if not there]


def check_apt(python: str) -> None:
    """Install the missing apt packages as root; otherwise say which are missing and how to get them."""
    missing = missing_apt(python)
    if not missing:
        return
    command = f"apt-get install -y --no-install-recommends {' '.join(missing)}"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise SetupError(f"missing: {' '.join(missing)}. Run: sudo apt-get update && sudo {command}")
    say(f"apt: {' '.join(missing)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run_logged(["apt-get", "update", "-q"], "apt-update", "check the network and /etc/apt", environment)
    run_logged(command.split(), "apt-install", "check the network and /etc/apt", environment)


# --- the virtual environment ---------------------------------------------------------------------------


def make_environment(python: str, prefix: Path | None) -> None:
    """Make `.venv` hold what requirements/ names; it is made anew when its Python, ROS or place changed."""
    names = ["build", "run", "dev"] + (["system_ros"] if prefix else ["ros"])
    files = [ROOT / "requirements" / f"{name}.txt" for name in names]
    files += [LOCAL] if LOCAL.is_file() else []
    models = ROOT / "requirements" / "models.txt"
    base_key = digest([str(ROOT), python, str(version_of(python)), str(prefix)])
    if read_stamp("base") != base_key:
        for folder in (VENV, *(ROOT / name for name in COLCON_FOLDERS)):
            shutil.rmtree(folder, ignore_errors=True)
        say(f"virtual environment with {python}" + (f" and the ROS 2 of {prefix}" if prefix else ""))
        options = ["--system-site-packages"] if prefix else []
        run_logged([python, "-m", "venv", *options, str(VENV)], "venv", "install the python3-venv package")
        write_stamp("base", base_key)
    key = digest([base_key, *(path.read_text() for path in [*files, models])])
    if read_stamp("packages") == key:
        return
    say(f"Python packages ({SIZES}; two to ten minutes the first time)")
    install_packages(without_replaced(files, LOCAL, VENV / "requirements"), isolated=prefix is None)
    install_packages([models], isolated=prefix is None, options=["--no-deps"])
    if prefix is None:
        patch_wheel_paths()
    write_stamp("packages", key)
    (STAMPS / "workspace").unlink(missing_ok=True)


def install_packages(files: list[Path], *, isolated: bool, options: Sequence[str] = ()) -> None:
    """Install what the requirements `files` name: with uv, in less than half of pip's time, where it can be used.

    uv does not see the system's packages, so an environment that is not `isolated` from them is pip's. It does not
    read pip's configuration either: where it fails, behind a mirror for example, pip tries.
    """
    pip = [str(VENV_PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    requirements = [*options, *(part for path in files for part in ("-r", str(path)))]
    if isolated:
        try:
            run_logged([*pip, UV], "uv", "")
            run_logged(
                [
                    str(VENV / "bin" / "uv"),
                    "pip",
                    "install",
                    "-q",
                    "--python",
                    str(VENV_PYTHON),
                    *requirements,
                ],
                "uv",
                "",
            )
            return
        except SetupError:
            say("uv could not install them; pip does")
    advice = f"check the network and the disk ({SIZES}), then run this again"
    run_logged([*pip, *requirements], "pip", advice)


def patch_wheel_paths() -> None:
    """Make the wheels' CMake files name this environment's headers, not those of their build machine."""
    code = "import numpy, sysconfig; print(sysconfig.get_path('include')); print(numpy.get_include())"
    python_include, numpy_include = subprocess.run(
        [str(VENV_PYTHON), "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n")[:2]
    built_numpy = re.compile(r"/opt/python/cp\d+-cp\d+/lib/python[\d.]+/site-packages/numpy/_?core/include")
    built_python = re.compile(r"/opt/python/cp\d+-cp\d+/include/python[\d.]*\d")
    for path in (VENV / "share").rglob("*.cmake"):
        text = path.read_text()
        patched = built_python.sub(python_include, built_numpy.sub(numpy_include, text))
        if patched != text:
            path.write_text(patched)


# --- the colcon workspace ------------------------------------------------------------------------------


def packages_to_build(prefix: Path | None) -> dict[str, Path]:
    """Return name -> folder of the workspace's packages, less underlay packages that are really installed."""
    found: dict[str, Path] = {}
    for manifest in sorted((ROOT / "src").glob("**/package.xml")):
        folder = manifest.parent
        installed = prefix is not None and (prefix / INDEX / folder.name).exists()
        if not (folder.parent.name == "underlay" and installed):
            found[folder.name] = folder
    return found


def build_key(packages: dict[str, Path]) -> str:
    """Return a digest of everything that a build depends on."""
    parts: list[str] = [read_stamp("packages")]
    for name, folder in packages.items():
        parts.append(name)
        for pattern in BUILD_INPUTS:
            for path in sorted(folder.rglob(pattern)):
                parts += [str(path.relative_to(ROOT)), path.read_text()]
    for name in ("launch", "config"):
        parts += sorted(str(path.relative_to(ROOT)) for path in (ROOT / name).rglob("*.*"))
    return digest([*parts, (ROOT / "colcon.meta").read_text()])


def build_workspace(prefix: Path | None) -> None:
    """Build every package into build/, install/ and log/ of the checkout, and compile the core's kernels meanwhile."""
    packages = packages_to_build(prefix)
    key = build_key(packages)
    if read_stamp("workspace") == key and (ROOT / "install" / "setup.sh").exists():
        return
    say(
        f"colcon build of {len(packages)} packages, and compiled kernels (two to three minutes the first time)"
    )
    colcon_build([packages[CORE]], prefix)
    with ThreadPoolExecutor(1) as pool:
        kernels = pool.submit(compile_kernels)  # one core is idle while messages are generated
        colcon_build(list(packages.values()), prefix)
        write_stamp("workspace", key)
        kernels.result()


def colcon_build(folders: list[Path], prefix: Path | None) -> None:
    """Build the packages in these folders, two at a time. Raises SetupError."""
    # Not .venv/bin/colcon: with a system ROS 2, colcon may be the system's.
    command = [
        str(VENV_PYTHON),
        "-c",
        "import sys; from colcon_core.command import main; sys.exit(main())",
        "--log-base",
        str(ROOT / "log"),
        "build",
        "--base-paths",
        *(str(folder) for folder in folders),
        "--build-base",
        str(ROOT / "build"),
        "--install-base",
        str(ROOT / "install"),
        "--metas",
        str(ROOT / "colcon.meta"),
        "--symlink-install",
        "--parallel-workers",
        "2",
        "--event-handlers",
        "console_direct-",
        "console_cohesion-",
        "--cmake-args",
        "-DBUILD_TESTING=OFF",
        f"-DPython3_EXECUTABLE={VENV_PYTHON}",
        # The wheels have no rclcpp, so nothing there could use types of C++.
        f"-DPYTHON_TYPES_ONLY={'ON' if prefix is None else 'OFF'}",
        "--no-warn-unused-cli",
    ]
    advice = "read log/latest_build; if a build folder is stale, `make clean` and once more"
    run_logged(command, "colcon", advice, build_environment(prefix))


def kernels_key() -> str:
    """Return a digest of the modules that numba compiles, and of what it compiles them with."""
    sources = [path.read_text() for path in sorted((ROOT / "src").glob("*/*/**/*.py"))]
    return digest([read_stamp("packages"), *(text for text in sources if "njit" in text)])


def compile_kernels() -> None:
    """Fill numba's cache where kernels are new. A failure is told, and the first decision compiles them."""
    key = kernels_key()
    if read_stamp("kernels") == key:
        return
    # The core is installed; what the script runs besides may not be yet.
    sources = ":".join(
        str(ROOT / "src" / name) for name in ("lodestar_bringup", "lodestar_sim", "lodestar_eval")
    )
    enter = f". {shlex.quote(str(ROOT / 'env.sh'))} && export PYTHONPATH=$PYTHONPATH:{shlex.quote(sources)}"
    # uv installs sources alone: what Python compiles of them in this run is kept, also where it keeps nothing as a
    # rule (containers, CI). Without that every process compiles NumPy, numba and Open3D again.
    script = f"{enter} && unset PYTHONDONTWRITEBYTECODE && exec python scripts/compile_kernels.py"
    try:
        run_logged(["bash", "-c", script], "compile_kernels", "nothing: they are compiled when first used")
    except SetupError as error:
        return say(str(error))
    write_stamp("kernels", key)


def build_environment(prefix: Path | None) -> dict[str, str]:
    """Return colcon's variables: the environment's Python first, its ROS or the system's to build on."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
    if prefix is not None:
        done = subprocess.run(
            ["bash", "-c", f". {prefix}/setup.bash && env -0"], capture_output=True, text=True, check=True
        )
        environment.update(line.split("=", 1) for line in done.stdout.split("\0") if "=" in line)
        environment["MAKEFLAGS"] = "-j2"
    else:
        # Whatever workspace the shell has sourced must not leak into ours.
        for name in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH", "PYTHONPATH"):
            environment.pop(name, None)
        environment["AMENT_PREFIX_PATH"] = environment["CMAKE_PREFIX_PATH"] = str(VENV)
        environment["LD_LIBRARY_PATH"] = str(VENV / "lib")
        environment["_ROS_WHEELS_BOOTSTRAP_COMPLETE"] = "1"
        environment["MAKEFLAGS"] = "-j2"
    environment["VIRTUAL_ENV"] = str(VENV)
    environment["PATH"] = f"{VENV / 'bin'}{os.pathsep}{environment.get('PATH', '')}"
    return environment


# --- small things --------------------------------------------------------------------------------------


def run_logged(command: list[str], name: str, advice: str, environment: dict[str, str] | None = None) -> None:
    """Run a command quietly; where it fails, show the end of what it wrote and what to do."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-40:])
        raise SetupError(f"{name} failed ({done.returncode}):\n{tail}\n[setup] what to do: {advice}")


def digest(parts: list[str]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def read_stamp(name: str) -> str:
    path = STAMPS / name
    return path.read_text() if path.is_file() else ""


def write_stamp(name: str, key: str) -> None:
    STAMPS.mkdir(parents=True, exist_ok=True)
    (STAMPS / name).write_text(key)


if __name__ == "__main__":
    sys.exit(main())
