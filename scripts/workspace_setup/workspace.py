"""The colcon workspace, and the loops that numba compiles."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from workspace_setup.checkout import Checkout, SetupError, digest, say, step

INDEX = "share/ament_index/resource_index/packages"
CORE = "lodestar"  # the package that needs no other, and has the loops that numba compiles
MOST_JOBS = 8  # compilers at a time, of each of two packages; each takes up to 0.3 GB of memory
# What a package's build depends on; with --symlink-install a changed .py needs no rebuild.
BUILD_INPUTS = ("package.xml", "setup.py", "setup.cfg", "CMakeLists.txt", "*.msg", "*.srv", "*.action")


def packages_to_build(checkout: Checkout, prefix: Path | None) -> dict[str, Path]:
    """Return name -> folder of the workspace's packages, less underlay packages that are really installed."""
    found: dict[str, Path] = {}
    for manifest in sorted((checkout.root / "src").glob("**/package.xml")):
        folder = manifest.parent
        installed = prefix is not None and (prefix / INDEX / folder.name).exists()
        if not (folder.parent.name == "underlay" and installed):
            found[folder.name] = folder
    return found


def build_key(checkout: Checkout, packages: dict[str, Path]) -> str:
    """Return a digest of everything that a build depends on."""
    parts: list[str] = [checkout.read_stamp("packages")]
    for name, folder in packages.items():
        parts.append(name)
        for pattern in BUILD_INPUTS:
            for path in sorted(folder.rglob(pattern)):
                parts += [str(path.relative_to(checkout.root)), path.read_text()]
    for name in ("launch", "config"):
        parts += sorted(str(path.relative_to(checkout.root)) for path in (checkout.root / name).rglob("*.*"))
    return digest([*parts, (checkout.root / "colcon.meta").read_text()])


def build_workspace(checkout: Checkout, prefix: Path | None) -> None:
    """Build every package into build/, install/ and log/ of the checkout, and compile the core's kernels meanwhile."""
    packages = packages_to_build(checkout, prefix)
    key = build_key(checkout, packages)
    if checkout.read_stamp("workspace") == key and (checkout.root / "install" / "setup.sh").exists():
        return
    with (
        step(f"colcon build of {len(packages)} packages, and compiled kernels"),
        ThreadPoolExecutor(1) as pool,
    ):
        colcon_build(checkout, [packages[CORE]], prefix)
        kernels = pool.submit(compile_kernels, checkout)  # one core is idle while messages are generated
        began = time.monotonic()
        colcon_build(checkout, list(packages.values()), prefix)
        checkout.write_stamp("workspace", key)
        say(f"  packages: {time.monotonic() - began:.1f} s")
        kernels.result()


def colcon_build(checkout: Checkout, folders: list[Path], prefix: Path | None) -> None:
    """Build the packages in these folders, two at a time. Raises SetupError."""
    # Not .venv/bin/colcon: with a system ROS 2, colcon may be the system's.
    command = [
        str(checkout.python),
        "-c",
        "import sys; from colcon_core.command import main; sys.exit(main())",
        "--log-base",
        str(checkout.root / "log"),
        "build",
        "--base-paths",
        *(str(folder) for folder in folders),
        "--build-base",
        str(checkout.root / "build"),
        "--install-base",
        str(checkout.root / "install"),
        "--metas",
        str(checkout.root / "colcon.meta"),
        "--symlink-install",
        "--parallel-workers",
        "2",
        "--event-handlers",
        "console_direct-",
        "console_cohesion-",
        "--cmake-args",
        "-DBUILD_TESTING=OFF",
        f"-DPython3_EXECUTABLE={checkout.python}",
        # The wheels have no rclcpp, so nothing there could use types of C++.
        f"-DPYTHON_TYPES_ONLY={'ON' if prefix is None else 'OFF'}",
        "--no-warn-unused-cli",
    ]
    advice = "read log/latest_build; if a build folder is stale, `make clean` and once more"
    checkout.run(command, "colcon", advice, build_environment(checkout, prefix))


def kernels_key(checkout: Checkout) -> str:
    """Return a digest of the modules that numba compiles."""
    sources = [path.read_text() for path in sorted((checkout.root / "src").glob("*/*/**/*.py"))]
    sources = [text for text in sources if "njit" in text]
    return digest([checkout.read_stamp("packages"), *sources])


def compile_kernels(checkout: Checkout) -> None:
    """Fill numba's cache where kernels are new. A failure is told, and the first decision compiles them."""
    key = kernels_key(checkout)
    if checkout.read_stamp("kernels") == key:
        return
    # The core is installed; what the script runs besides may not be yet.
    sources = ":".join(
        str(checkout.root / "src" / name) for name in ("lodestar_bringup", "lodestar_sim", "lodestar_eval")
    )
    enter = f". {shlex.quote(str(checkout.root / 'env.sh'))} && export PYTHONPATH=$PYTHONPATH:{shlex.quote(sources)}"
    # uv installs sources alone: what Python compiles of them in this run is kept, also where it keeps nothing as a
    # rule (containers, CI). Without that every process compiles NumPy, numba and Open3D again.
    script = f"{enter} && unset PYTHONDONTWRITEBYTECODE && exec python scripts/compile_kernels.py"
    began = time.monotonic()
    try:
        checkout.run(["bash", "-c", script], "compile_kernels", "nothing: they are compiled when first used")
    except SetupError as error:
        return say(str(error))
    checkout.write_stamp("kernels", key)
    say(f"  kernels: {time.monotonic() - began:.1f} s")


def build_environment(checkout: Checkout, prefix: Path | None) -> dict[str, str]:
    """Return colcon's variables: the environment's Python first, its ROS or the system's to build on."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONHOME"}
    if prefix is not None:
        done = subprocess.run(
            ["bash", "-c", f". {prefix}/setup.bash && env -0"], capture_output=True, text=True, check=True
        )
        environment.update(line.split("=", 1) for line in done.stdout.split("\0") if "=" in line)
    else:
        # Whatever workspace the shell has sourced must not leak into ours.
        for name in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH", "PYTHONPATH"):
            environment.pop(name, None)
        environment["AMENT_PREFIX_PATH"] = environment["CMAKE_PREFIX_PATH"] = str(checkout.venv)
        environment["LD_LIBRARY_PATH"] = str(checkout.venv / "lib")
        environment["_ROS_WHEELS_BOOTSTRAP_COMPLETE"] = "1"
        environment["PYTHONPATH"] = str(Path(__file__).parent / "interface_trees")
        environment["LODESTAR_INTERFACE_TREES"] = str(checkout.root / "build" / "interface_trees")
    environment["MAKEFLAGS"] = f"-j{min(max(len(os.sched_getaffinity(0)), 2), MOST_JOBS)}"
    environment["VIRTUAL_ENV"] = str(checkout.venv)
    environment["PATH"] = f"{checkout.venv / 'bin'}{os.pathsep}{environment.get('PATH', '')}"
    return environment
