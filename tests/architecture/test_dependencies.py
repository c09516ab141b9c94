"""Tests that package.xml, setup.py and requirements/ name what the packages import, that every number of the version is
the same, and that the licence of all data and weights is named.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import declared
import pytest
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # of pytest

ROOT = declared.ROOT
TABLE: dict[str, Any] = tomllib.loads((Path(__file__).parent / "dependencies.toml").read_text())
MANIFESTS = {path.parent.name: ElementTree.parse(path).getroot() for path in ROOT.glob("src/**/package.xml")}
PACKAGES = sorted(path.parent.name for path in ROOT.glob("src/*/setup.py"))
RELEASED = {*TABLE["ros"]["wheels"], *TABLE["ros"]["released"]}


BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def imports_of(text: str) -> Iterator[tuple[str, bool]]:
    """Yield (dotted name, whether it is imported when the module is), without those for type checking alone."""
    dynamic = "import_module" in text or "__import__" in text
    waiting: list[tuple[ast.AST, bool]] = [(ast.parse(text), True)]
    while waiting:
        node, early = waiting.pop()
        if isinstance(node, ast.Import):
            yield from ((alias.name, early) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or "", early
        elif isinstance(node, FUNCTIONS) and dynamic:
            yield from ((name, False) for call in ast.walk(node) if (name := dynamic_import(call)))
        checked = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        inner = (part for name in BLOCKS[checked:] for part in getattr(node, name, ()))
        waiting += [(part, early and not isinstance(node, FUNCTIONS)) for part in inner]


def dynamic_import(node: ast.AST) -> str:
    """Return the module that a call of import_module names, "" if it is none."""
    called = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    first = node.args[0] if isinstance(node, ast.Call) and node.args else None
    named = called in ("import_module", "__import__") and isinstance(first, ast.Constant)
    return str(first.value) if named and isinstance(first, ast.Constant) else ""


def known_as(dotted: str) -> str:
    """Return the name of an import in the table: the longest that it begins with, else its first part."""
    parts = dotted.split(".")
    names = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((name for name in names if name in TABLE["imports"]), parts[0])


@cache
def imported(package: str) -> dict[str, bool]:
    """Return what a package imports from elsewhere -> whether a module of it needs that to be imported."""
    found: dict[str, bool] = {}
    for path in (ROOT / "src" / package / package).rglob("*.py"):
        for dotted, early in imports_of(path.read_text()):
            name = known_as(dotted)
            if name.split(".")[0] not in (*sys.stdlib_module_names, package):
                found[name] = found.get(name, False) or early
    return found


def required(package: str) -> set[str]:
    optional = set(TABLE["optional"].get(package, ()))
    return ({*imported(package)} - optional) | {*TABLE["run"].get(package, ())}


def pip_name(name: str) -> str | None:
    """Return the PyPI project of an import or package of ours, None for what ROS brings."""
    if name in PACKAGES:
        return name
    if name in RELEASED or name in MANIFESTS:
        return None
    return TABLE["imports"].get(name, {"pip": name})["pip"]


def requirements(lines: list[str]) -> dict[str, str]:
    """Return PyPI project -> its lowest version, "" for none."""
    parsed = [Requirement(line) for line in lines]
    return {
        one.name: next((part.version for part in one.specifier if part.operator in (">=", "==")), "")
        for one in parsed
    }


@cache
def listed() -> dict[str, str]:
    """Return PyPI project -> lowest version in requirements/, which `make setup` installs."""
    lines = [line.split(" #")[0] for path in ROOT.glob("requirements/*.txt") if path.name != "system_ros.txt"
             for line in path.read_text().splitlines() if re.match(r"\w", line)]  # fmt: skip
    return requirements(lines)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_manifest_names_what_its_package_imports_and_runs(package: str) -> None:
    wanted = set()
    for name in required(package):
        entry = TABLE["imports"].get(name)
        wanted |= (
            {entry["rosdep"]} if entry and "rosdep" in entry else {name} if pip_name(name) is None else set()
        )
    wanted |= {name for name in required(package) if name in PACKAGES}
    manifest = MANIFESTS[package]
    named = [node.text for kind in ("depend", "exec_depend") for node in manifest.findall(kind)]
    assert sorted(named) == sorted(wanted)


@pytest.mark.parametrize("package", PACKAGES)
def test_setup_requires_what_the_package_imports_and_an_extra_what_is_optional(package: str) -> None:
    arguments = declared.setup_arguments(package)
    wanted = {name for one in required(package) if (name := pip_name(one))}
    names = {name.replace("open3d-cpu", "open3d") for name in requirements(arguments["install_requires"])}
    assert names == wanted
    extras = {name for lines in arguments.get("extras_require", {}).values() for name in requirements(lines)}
    optional = {name for one in TABLE["optional"].get(package, ()) if (name := pip_name(one))}
    assert optional <= extras and not extras & wanted


@pytest.mark.parametrize("package", TABLE["optional"])
def test_what_is_optional_is_imported_in_functions_alone(package: str) -> None:
    for name in TABLE["optional"][package]:
        assert imported(package)[name] is False, f"a module of {package} needs {name}"


def test_the_environment_has_at_least_the_versions_that_the_packages_ask_for() -> None:
    for package in PACKAGES:
        arguments = declared.setup_arguments(package)
        lines = [line for extra in arguments.get("extras_require", {}).values() for line in extra]
        for name, lowest in requirements([*arguments["install_requires"], *lines]).items():
            assert name in PACKAGES or name in listed(), f"requirements/ lacks {name} of {package}"
            if name not in PACKAGES and Requirement(f"x>={lowest or 0}").specifier.contains(
                listed()[name] or "9999"
            ):
                continue
            assert name in PACKAGES, (
                f"{package} asks for {name} >= {lowest}, requirements/ for {listed()[name]}"
            )


def test_ros_packages_that_are_imported_come_with_the_wheels_or_are_built_here() -> None:
    optional = {name for names in TABLE["optional"].values() for name in names} | {"launch", "launch_ros"}
    for package in PACKAGES:
        for name in {*imported(package)} - optional:
            if pip_name(name) is None and name not in MANIFESTS and name not in TABLE["ros"]["wheels"]:
                assert f"ros-{name.replace('_', '-')}" in listed(), name


def test_every_key_of_a_manifest_is_known_to_rosdep_or_built_here() -> None:
    keys = {entry["rosdep"] for entry in TABLE["imports"].values() if "rosdep" in entry}
    known = {*keys, *RELEASED, *MANIFESTS, "python3-pytest"}
    for name, manifest in MANIFESTS.items():
        used = {node.text for node in manifest if node.tag.endswith("depend")}
        assert used <= known, f"{name}: {used - known}"


def test_the_table_holds_nothing_else() -> None:
    found = {name for package in PACKAGES for name in imported(package)}
    run = {name for names in TABLE["run"].values() for name in names}
    assert {*TABLE["imports"]} <= found, {*TABLE["imports"]} - found
    keys = {node.text for manifest in MANIFESTS.values() for node in manifest if node.tag.endswith("depend")}
    optional = {name for names in TABLE["optional"].values() for name in names}
    assert keys | run | optional >= RELEASED, RELEASED - keys - run - optional


def test_there_is_one_version_and_the_changelog_tells_of_it() -> None:
    core = re.search(r'__version__ = "(.*)"', (ROOT / "src/lodestar/lodestar/__init__.py").read_text())
    assert core is not None
    versions = {declared.setup_arguments(package)["version"] for package in PACKAGES}
    versions |= {manifest.findtext("version") for manifest in MANIFESTS.values()}
    assert versions == {core[1]}
    told = re.findall(
        r"^## \[([\d.]+)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert told[0] == core[1], "the newest release of the changelog"
    listing = subprocess.run(["git", "tag"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {tag.removeprefix("v") for tag in listing.split()} <= set(told)


def test_every_package_names_the_same_maintainer_and_its_licence() -> None:
    people = {
        (node.text, node.get("email")) for one in MANIFESTS.values() for node in one.findall("maintainer")
    }
    assert len(people) == 1
    for package in PACKAGES:
        arguments, manifest = declared.setup_arguments(package), MANIFESTS[package]
        assert {(arguments["maintainer"], arguments["maintainer_email"])} == people
        assert arguments["license"] == manifest.findtext("license") == "Apache-2.0"


#: Endings of files that hold neither code nor text: each such file that we ship is on the page.
DATA = (
    ".gz",
    ".onnx",
    ".zip",
    ".jpg",
    ".png",
    ".gif",
    ".svg",
    ".urdf",
    ".xacro",
    ".jsonl",
    ".npz",
    ".npy",
    ".bin",
)


def test_the_licence_of_data_and_weights_is_named() -> None:
    page = (ROOT / "docs" / "licences.md").read_text()
    named = set(re.findall(r"`([^`\s]+)`", page))
    shipped = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    wanted = {name for name in shipped.splitlines() if name.endswith(DATA) or "/measured/" in name}
    assert wanted <= named, wanted - named
    files = {name for name in named if name.startswith(("src/", "docs/"))}
    assert all((ROOT / name).exists() for name in files), "the page names a file that is not there"
    texts = [path.read_text() for path in ROOT.glob("src/*/*/**/*.py")]
    read = {
        name
        for text in texts
        for name in re.findall(r'"([a-z0-9]+(?:_[a-z0-9]+)*_(?:dev|7scenes|kth|changes|real))["/]', text)
    }
    assert len(read) > 8 and read <= named, read - named
    fetched = (ROOT / "scripts/fetch_detector.py").read_text()
    packages = re.findall(r'^ +"(@[^"]+/[^"@]+)@', fetched, re.MULTILINE)
    models = re.findall(r"^([\w-]+)", (ROOT / "requirements/models.txt").read_text(), re.MULTILINE)
    assert len(packages) == 2 and {*packages, *models} <= named


def test_an_import_is_seen_where_it_stands() -> None:
    text = (
        "import a.b\nfrom c import d\nif TYPE_CHECKING:\n    import e\nelse:\n    import f\n"
        "def late():\n    import g\n    importlib.import_module('h.i')\nclass Here:\n    from j import k\n"
        "try:\n    import l\nexcept ImportError:\n    l = None\nfrom . import own\n"
    )
    seen = dict(imports_of(text))
    assert seen == {"a.b": True, "c": True, "f": True, "g": False, "h.i": False, "j": True, "l": True}
