"""The colcon workspace, and the functions that numba compiles (kernels)."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from workspace_setup.checkout import Checkout, SetupError, digest, say, step

INDEX = "share/ament_index/resource_index/packages"
MOST_JOBS = 8  # compilers at a time, of each of two packages; each takes up to 0.3 GB of memory
# What a package's build depends on; with --symlink-install a changed .py needs no rebuild.
BUILD_INPUTS = ("package.xml", "setup.py", "setup.cfg", "CMakeLists.txt", "*.msg", "*.srv", "*.action")


def packages_to_build(checkout: Checkout, prefix: Path | None) -> dict[str, Path]:
    """Return name -> folder of the workspace's packages, without those of src/underlay that ROS has
    installed.
    """
    found: dict[str, Path] = {}
    for manifest in sorted((checkout.root / "src").glob("**/package.xml")):
        folder = manifest.parent
        installed = prefix is not None and (prefix / INDEX / folder.name).exists()
        if not (folder.parent.name == "underlay" and installed):
            found[folder.name] = folder
    return found


def build_key(checkout: Checkout, packages: dict[str, Path]) -> str:
    """Return a hash of all inputs of a colcon build."""
    parts: list[str] = [checkout.read_stamp("packages")]
    for name, folder in packages.items():
        parts.append(name)
        for pattern in BUILD_INPUTS:
            for path in sorted(folder.rglob(pattern)):
                parts += [str(path.relative_to(checkout.root)), path.read_text()]
    for name in ("launch", "config"):
        parts += sorted(str(path.relative_to(checkout.root)) for path in (checkout.root / name).rglob("*.*"))
    parts.append((Path(__file__).parent / "interface_build.cmake").read_text())
    return digest([*parts, (checkout.root / "colcon.meta").read_text()])


def build_workspace(checkout: Checkout, prefix: Path | None) -> None:
    """Build all packages into build/, install/ and log/ of the checkout, and compile numba's kernels.

    Messages, Python packages and kernels do not depend on each other and are built at the same time.
    """
    packages = packages_to_build(checkout, prefix)
    key = build_key(checkout, packages)
    if checkout.read_stamp("workspace") == key and (checkout.root / "install" / "setup.sh").exists():
        return compile_kernels(checkout)
    generated = [folder for folder in packages.values() if (folder / "CMakeLists.txt").is_file()]
    python = [folder for folder in packages.values() if folder not in generated]
    link_sources(checkout, python)
    with step(f"{len(packages)} packages with colcon, and compiled kernels"), ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(compile_kernels, checkout),
            pool.submit(colcon_build, checkout, python, prefix, "python"),
        ]
        began = time.monotonic()
        colcon_build(checkout, generated, prefix, "messages")
        say(f"  messages: {time.monotonic() - began:.1f} s")
        for job in jobs:
            job.result()
    checkout.write_stamp("workspace", key)


def link_sources(checkout: Checkout, folders: list[Path]) -> None:
    """Create the links in build/ to the sources that `colcon build --symlink-install` creates, because numba
    caches kernels by source path.
    """
    for folder in folders:
        link = checkout.root / "build" / folder.name / folder.name
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.exists():
            link.unlink(missing_ok=True)
            link.symlink_to(folder / folder.name)


def colcon_build(checkout: Checkout, folders: list[Path], prefix: Path | None, log: str) -> None:
    """Build the packages in these folders, two at a time. log: name of their folder of logs. Raises
    SetupError.
    """
    # Not .venv/bin/colcon: with a system ROS 2, colcon may be the system's.
    command = [
        *("nice", "-n", "10"),  # one process compiles the kernels meanwhile, and takes longest
        str(checkout.python),
        "-c",
        "import sys; from colcon_core.command import main; sys.exit(main())",
        "--log-base",
        str(checkout.root / "log" / log),
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
        f"-DINTERFACE_BUILD={Path(__file__).parent / 'interface_build.cmake'}",
        "--no-warn-unused-cli",
    ]
    advice = f"read log/{log}/latest_build; if a build folder is stale, `make clean` and once more"
    checkout.run(command, "colcon", advice, build_environment(checkout, prefix))


def kernels_key(checkout: Checkout) -> str:
    """Return a hash of the modules with functions that numba compiles."""
    sources = [path.read_text() for path in sorted((checkout.root / "src").glob("*/*/**/*.py"))]
    sources = [text for text in sources if "njit" in text]
    return digest([checkout.read_stamp("packages"), *sources])


def compile_kernels(checkout: Checkout) -> None:
    """Compile numba's kernels into its cache if they have changed. A failure is only reported; the kernels
    are then compiled at their first use.
    """
    key = kernels_key(checkout)
    if checkout.read_stamp("kernels") == key:
        return
    began = time.monotonic()
    command = [str(checkout.python), "scripts/compile_kernels.py"]
    advice = "nothing: they are compiled when first used"
    try:
        checkout.run(command, "compile_kernels", advice, kernels_environment(checkout))
    except SetupError as error:
        return say(str(error))
    checkout.write_stamp("kernels", key)
    say(f"  kernels: {time.monotonic() - began:.1f} s")


def kernels_environment(checkout: Checkout) -> dict[str, str]:
    """Return the environment variables for compile_kernels.py: source paths as colcon installs them, caches
    as in env.sh.
    """
    # The installer installs sources alone. Their bytecode is written in this run, also where none is written
    # as a rule (containers, CI): otherwise every process compiles NumPy, numba and Open3D again.
    dropped = ("PYTHONHOME", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    packages = sorted((checkout.root / "src").glob("lodestar*/setup.py"))
    cache = checkout.root / ".cache"
    environment["PYTHONPATH"] = ":".join(str(checkout.root / "build" / path.parent.name) for path in packages)
    environment |= {
        "LODESTAR_ROOT": str(checkout.root),
        "LODESTAR_CACHE_DIR": str(cache),
        "HF_HUB_OFFLINE": "1",
    }
    environment |= {"NUMBA_CACHE_DIR": str(cache / "numba"), "MPLCONFIGDIR": str(cache / "matplotlib")}
    return environment


def build_environment(checkout: Checkout, prefix: Path | None) -> dict[str, str]:
    """Return the environment variables for colcon: PATH with the virtual environment first, and the ROS 2 on
    which to build, that of the wheels or the system's (`prefix`).
    """
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
