"""Tests that the core installs from its own folder, and that its modules import with what it requires, without ROS."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

IMPORT_ALL = """
import importlib, pkgutil, sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

def needed(project):
    try:
        lines = requires(project) or []
    except PackageNotFoundError:  # for another machine
        return
    for one in map(Requirement, lines):
        if one.marker is None or one.marker.evaluate({"extra": ""}):
            yield canonicalize_name(one.name)

declared, waiting = set(), ["lodestar"]
while waiting:
    project = waiting.pop()
    if project not in declared:
        declared.add(project)
        waiting += needed(project)
owners = {name: {canonicalize_name(one) for one in projects} for name, projects in packages_distributions().items()}

class OnlyDeclared:
    def find_spec(self, name, path=None, target=None):
        if (projects := owners.get(name.split(".")[0])) and not projects & declared:
            raise ModuleNotFoundError(f"lodestar does not require {name}", name=name)
        return None

sys.meta_path.insert(0, OnlyDeclared())
import lodestar

names = [module.name for module in pkgutil.walk_packages(lodestar.__path__, "lodestar.")]
for name in names:
    importlib.import_module(name)
heavy = {"torch", "open3d", "sentence_transformers", "ultralytics", "matplotlib", "openai"} & set(sys.modules)
undeclared = {name for name in ("rclpy", "psutil", "openai", "rosbags") if owners.get(name, declared) & declared}
print(lodestar.__file__, len(names), sorted(heavy | undeclared))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the core's unpacked wheel, built from a copy of its sources."""
    folder = tmp_path_factory.mktemp("core")
    source = folder / "source"
    shutil.copytree(
        ROOT / "src" / "lodestar", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    )
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run(
        [*command, "-w", str(folder), str(source)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("lodestar-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def test_every_module_imports_with_what_the_core_requires_and_none_loads_a_heavy_library(
    installed: Path,
) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        cwd=installed,
        env={**environment, "PYTHONPATH": str(installed)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    place, count, heavy = done.stdout.split(maxsplit=2)
    assert place.startswith(str(installed))
    assert int(count) > 30
    assert heavy.strip() == "[]", "models and viewers are loaded where they are used, not with the library"


def test_every_data_file_of_the_core_is_in_its_wheel(installed: Path) -> None:
    package = ROOT / "src" / "lodestar" / "lodestar"
    there = {
        str(path.relative_to(package))
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {
        str(path.relative_to(installed / "lodestar"))
        for path in (installed / "lodestar").rglob("*")
        if path.is_file()
    }
    assert there - packed == set()
