"""The virtual environment: the packages that `requirements/` lists, and those of the requested extras."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence, Set
from pathlib import Path

from workspace_setup.checkout import Checkout, CommandFailed, SetupError, digest, say, step
from workspace_setup.index import network_trouble, pip_environment, pip_settings, uv_environment
from workspace_setup.local_requirements import name_of, without_replaced
from workspace_setup.machine import check_disk, installed_interpreter, version_of

#: What `make setup EXTRAS=...` takes, and the files of requirements/ that it adds. Ultralytics needs a torchvision of
#: the same build as torch, so it comes with both.
EXTRAS = {"torch": ("torch",), "ultralytics": ("torch", "ultralytics"), "signs": ("signs",)}
NO_EXTRAS = "none"
COLCON_FOLDERS = ("build", "install", "log")
UV = "uv>=0.5,<1"  # the installer; what it installs stands in requirements/
#: pip's patience with an index that does not answer: the first step that needs the network tells within seconds. Of
#: an index that it cannot fetch from pip says so only where it tells much.
FIRST_CONTACT = ("--retries", "0", "--timeout", "15", "-vv")


def chosen_extras(checkout: Checkout, asked: str | None) -> frozenset[str]:
    """Return the names of the extras: those in `asked`, or if it is None those of the last set-up. Raises
    SetupError.
    """
    text = checkout.read_stamp("extras") if asked is None else asked
    names = frozenset(re.split(r"[,\s]+", text.strip())) - {"", NO_EXTRAS}
    unknown = sorted(names - EXTRAS.keys())
    if unknown:
        raise SetupError(
            f"there is no extra {', '.join(unknown)}: EXTRAS takes {', '.join(EXTRAS)} "
            f"(a comma between two), or {NO_EXTRAS}"
        )
    return names


def requirement_files(checkout: Checkout, prefix: Path | None, extras: Set[str]) -> list[Path]:
    """Return the requirements files to install for these extras, the file of this computer only as the
    last.
    """
    names = ["build", "run", "console", "dev", "system_ros" if prefix else "ros"]
    names += sorted({file for extra in extras for file in EXTRAS[extra]})
    files = [checkout.requirements / f"{name}.txt" for name in names]
    return files + ([checkout.local] if checkout.local.is_file() else [])


def make_environment(checkout: Checkout, python: str, prefix: Path | None, extras: frozenset[str]) -> None:
    """Install the packages that requirements/ lists into `.venv`, without packages that it listed only
    earlier.

    `.venv` is rebuilt if its Python, ROS or folder has changed, and if a package is no longer required,
    because its dependencies cannot be distinguished from others. It is also rebuilt if an old release made
    it, which did not record the required packages.
    """
    files = requirement_files(checkout, prefix, extras)
    models = checkout.requirements / "models.txt"
    base_key = digest(
        [str(checkout.root), installed_interpreter(python), str(version_of(python)), str(prefix)]
    )
    asked = {name_of(line) for path in [*files, models] for line in path.read_text().splitlines()} - {""}
    if checkout.read_stamp("base") != base_key or _holds_more(checkout, asked):
        _make_anew(checkout, python, prefix, extras)
        checkout.write_stamp("base", base_key)
    key = digest([base_key, *(path.read_text() for path in [*files, models])])
    if checkout.read_stamp("packages") == key:
        return
    checkout.write_stamp("asked", "\n".join(sorted(asked)))
    checkout.write_stamp("extras", ",".join(sorted(extras)))
    (checkout.venv / "stamps" / "packages").unlink(missing_ok=True)
    with step("Python packages" + (f" with {', '.join(sorted(extras))}" if extras else "")):
        isolated = prefix is None
        copies = without_replaced(files, checkout.local, checkout.venv / "requirements")
        install_packages(checkout, copies, isolated=isolated)
        install_packages(checkout, [models], isolated=isolated, options=["--no-deps"])
        if prefix is None:
            patch_wheel_paths(checkout)
        if "ultralytics" in extras:
            check_builds(checkout)
    checkout.write_stamp("packages", key)
    (checkout.venv / "stamps" / "workspace").unlink(missing_ok=True)


def _holds_more(checkout: Checkout, asked: set[str]) -> bool:
    """Return whether an earlier set-up installed packages that are no longer required, and say so."""
    if not checkout.read_stamp("packages") and not checkout.read_stamp("asked"):
        return False
    noted = checkout.read_stamp("asked").split()
    gone = sorted(set(noted) - asked)
    if gone:
        say(f".venv is made anew: {', '.join(gone)} and what came along are no longer asked for")
    elif not noted:
        say(
            ".venv is of an earlier release and is made anew: it may hold torch, 5 GB that nothing here needs"
        )
    return bool(gone) or not noted


def _make_anew(checkout: Checkout, python: str, prefix: Path | None, extras: frozenset[str]) -> None:
    if checkout.python.exists():
        _reach_index(checkout)
    for folder in (checkout.venv, *(checkout.root / name for name in COLCON_FOLDERS)):
        shutil.rmtree(folder, ignore_errors=True)
    check_disk(checkout.root, extras)
    with step(f"virtual environment with {python}" + (f" and the ROS 2 of {prefix}" if prefix else "")):
        options = ["--system-site-packages"] if prefix else []
        if prefix is None and pip_works(python):  # half of the time; uv brings the environment's own pip
            options = ["--without-pip"]
        command = [python, "-m", "venv", *options, str(checkout.venv)]
        checkout.run(command, "venv", "install the python3-venv package", diagnose=network_trouble)


def pip_works(python: str) -> bool:
    """Return whether this interpreter's pip can install into another environment (pip 22.3 and newer)."""
    command = [python, "-m", "pip", "--python", python, "--version"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def pip_of(checkout: Checkout) -> list[str]:
    """Return the pip command that installs into `.venv`: its own pip, or that of the interpreter that created
    it.
    """
    own = next((checkout.venv / "lib").glob("python3*/site-packages/pip"), None)
    if own is None and checkout.python.exists():
        base = installed_interpreter(str(checkout.python))
        if pip_works(base):
            return [base, "-m", "pip", "--python", str(checkout.python)]
    return [str(checkout.python), "-m", "pip"]


def _reach_index(checkout: Checkout) -> None:
    """Raise SetupError if no package index can be reached, so that a working `.venv` is not deleted in
    vain.
    """
    pip = [*pip_of(checkout), "download", "--disable-pip-version-check", "--no-deps"]
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.suppress(CommandFailed),
    ):  # another fault is told later
        command = [*pip, "-d", folder, *FIRST_CONTACT, UV]
        checkout.run(command, "pip", "", pip_environment(os.environ), network_trouble)


def install_packages(
    checkout: Checkout, files: Sequence[Path], *, isolated: bool, options: Sequence[str] = ()
) -> None:
    """Install the packages in requirements files with uv, which takes less than half of pip's time, or with
    pip.

    pip is used if the index has no uv, and if the environment is not `isolated` from the system's packages,
    which uv does not see. Raises SetupError, within seconds if no index can be reached.
    """
    pip = [*pip_of(checkout), "install", "--disable-pip-version-check"]
    requirements = [*options, *(part for path in files for part in ("-r", str(path)))]
    environment = pip_environment(os.environ)
    if isolated and _bring_uv(checkout, [*pip, *FIRST_CONTACT, UV], environment):
        uv = [str(checkout.venv / "bin" / "uv"), "pip", "install", "-q", "--python", str(checkout.python)]
        settings = uv_environment(pip_settings(pip_of(checkout)), os.environ)
        try:
            checkout.run([*uv, *requirements], "uv", "", settings, diagnose=network_trouble)
            return
        except CommandFailed:
            say("uv could not install them; pip does")
    advice = "check the network and the disk, then run this again"
    checkout.run([*pip, "-q", *requirements], "pip", advice, environment, network_trouble)


def _bring_uv(checkout: Checkout, command: list[str], environment: dict[str, str]) -> bool:
    """Install uv; return whether it is installed. Raises SetupError if no package index can be reached."""
    if (checkout.venv / "bin" / "uv").is_file():
        return True
    try:
        checkout.run(command, "uv", "", environment, network_trouble)
    except CommandFailed:
        return False
    return True


def check_builds(checkout: Checkout) -> None:
    """Check that torchvision was built for the installed torch; otherwise detector and text model fail to
    load. Raises SetupError.
    """
    done = subprocess.run(
        [str(checkout.python), "-c", "import torchvision"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SetupError(
            f"torch and torchvision are of two builds ({(done.stderr.strip().splitlines() or ['?'])[-1]}): name "
            f"one index that has both in PIP_INDEX_URL or requirements/local.txt, "
            f"or leave them out with EXTRAS={NO_EXTRAS}"
        )


def patch_wheel_paths(checkout: Checkout) -> None:
    """Set the paths of headers in the wheels' CMake files to this environment's, in place of the build
    machine's.

    The installer links files from its cache, which other environments share: a file is replaced, never
    modified in place. Paths of another environment, from a cache modified nevertheless, are replaced too.
    """
    code = "import numpy, sysconfig; print(sysconfig.get_path('include')); print(numpy.get_include())"
    python_include, numpy_include = subprocess.run(
        [str(checkout.python), "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n")[:2]
    other_numpy = re.compile(r"""[^\s";]*/site-packages/numpy/_?core/include""")
    other_python = re.compile(r"""[^\s";]*/include/python3\.\d+""")
    for path in (checkout.venv / "share").rglob("*.cmake"):
        text = path.read_text()
        patched = other_python.sub(python_include, other_numpy.sub(numpy_include, text))
        if patched != text:
            own = path.with_suffix(".patched")
            own.write_text(patched)
            own.replace(path)
