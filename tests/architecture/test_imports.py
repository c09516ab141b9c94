"""Tests of the dependency rules of ARCHITECTURE.md, by parsing all sources without importing them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
CORE = SOURCE / "lodestar" / "lodestar"
PACKAGES = (
    "lodestar", "lodestar_ros", "lodestar_sim", "lodestar_go2", "lodestar_eval", "lodestar_bringup", "lodestar_console"
)  # fmt: skip

# Modules that come with a ROS installation or use its types.
ROS = re.compile(
    r"^(rclpy|rclcpp|rosgraph_msgs|rosidl_\w+|ament_\w+|launch(_\w+)?|tf2\w*|builtin_interfaces|"
    r"\w+_(msgs|srvs|interfaces)|unitree_\w+|message_filters|cv_bridge|lodestar_(?!$)\w+)$"
)
# Our packages that each package may import; all others are forbidden.
ALLOWED = {
    "lodestar": set(),
    "lodestar_ros": {"lodestar", "lodestar_interfaces"},
    "lodestar_sim": {"lodestar", "lodestar_ros", "lodestar_interfaces"},
    "lodestar_go2": {"lodestar", "lodestar_ros"},
    # reads profiles and private folders; its mission command communicates with the stack
    "lodestar_bringup": {"lodestar", "lodestar_ros"},
    "lodestar_console": {"lodestar", "lodestar_ros", "lodestar_interfaces"},
    "lodestar_eval": {
        "lodestar",
        "lodestar_ros",
        "lodestar_sim",
        "lodestar_bringup",
        "lodestar_interfaces",
        "lodestar_console",
    },
}


def rooms(title: str = "## Rooms of the core and the dependency rule") -> list[str]:
    """Return the names of the rooms, top first, listed in ARCHITECTURE.md under a title."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    section = re.split(r"\n##+ ", text.split(f"\n{title}\n", 1)[1], maxsplit=1)[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def rooms_of_the_agent() -> list[str]:
    return rooms("### Rooms of the agent")


def modules(package: str) -> list[Path]:
    return sorted((SOURCE / package / package).rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


@cache
def imports(path: Path, package_root: Path) -> list[tuple[int, str]]:
    """Return (line, absolute dotted name) of every import of a file, relative and dynamic ones included."""
    return list(_imports(path, package_root))


def _imports(path: Path, package_root: Path) -> Iterator[tuple[int, str]]:
    inside = [package_root.name, *path.relative_to(package_root).with_suffix("").parts]
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*inside[: len(inside) - node.level], *filter(None, [node.module])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            name = node.args[0] if node.args else None
            known = isinstance(name, ast.Constant) and isinstance(name.value, str)
            yield node.lineno, str(name.value) if known else "<computed>"  # type: ignore[union-attr]


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def where(path: Path, line: int, name: str) -> str:
    return f"{path.relative_to(ROOT)}:{line} imports {name}"


def test_every_room_stands_in_the_architecture_and_every_folder_is_a_room() -> None:
    listed = rooms()
    there = {path.parent.name for path in CORE.glob("*/__init__.py")}
    assert len(listed) == len(set(listed)) > 5
    assert there == set(listed), there.symmetric_difference(listed)
    assert {path.name for path in CORE.glob("*.py")} == {"__init__.py"}, "modules belong into rooms"


def test_the_core_imports_no_ros() -> None:
    found = [
        where(path, line, name)
        for path in modules("lodestar")
        for line, name in imports(path, CORE)
        if name == "<computed>" or ROS.match(name.split(".")[0])
    ]
    assert found == []


def test_rooms_import_only_rooms_above_them() -> None:
    assert upward(CORE, (), rooms()) == []


def test_every_folder_of_the_agent_is_a_room_of_its_own_and_no_module_stands_outside() -> None:
    listed = rooms_of_the_agent()
    assert {path.parent.name for path in (CORE / "agent").glob("*/__init__.py")} == set(listed)
    assert len(listed) == len(set(listed)) > 3
    assert {path.name for path in (CORE / "agent").glob("*.py")} == {"__init__.py"}, (
        "modules belong into rooms"
    )


def test_rooms_of_the_agent_import_only_rooms_above_them() -> None:
    assert upward(CORE, ("agent",), rooms_of_the_agent()) == []


def upward(root: Path, inside: tuple[str, ...], order: list[str]) -> list[str]:
    """Return the forbidden imports between rooms, among the folders `inside` a package; `order`: rooms, top first."""
    place = {room: number for number, room in enumerate(order)}
    prefix = ".".join((root.name, *inside, ""))
    folder = root.joinpath(*inside)
    found = []
    for path in sorted(folder.glob("*/**/*.py")):
        own = place[path.relative_to(folder).parts[0]]
        for line, name in imports(path, root):
            room = name.removeprefix(prefix).split(".")[0]
            if name.startswith(prefix) and place.get(room, len(place)) > own:
                found.append(f"{path.relative_to(root)}:{line} imports {name}")
    return found


def test_a_room_that_imports_one_below_is_seen(tmp_path: Path) -> None:
    root = tmp_path / "lodestar"
    texts = {"facts": "import os\n", "loop": "from lodestar.agent.facts.a import A\nfrom ..facts import a\n"}
    for room, text in texts.items():
        (root / "agent" / room).mkdir(parents=True)
        (root / "agent" / room / "a.py").write_text(text)
    assert upward(root, ("agent",), ["facts", "loop"]) == []
    assert upward(root, ("agent",), ["loop", "facts"]) == [
        "agent/loop/a.py:1 imports lodestar.agent.facts.a.A",
        "agent/loop/a.py:2 imports lodestar.agent.facts.a",
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_what_they_may(package: str) -> None:
    own = {package, *ALLOWED[package]}
    found = [
        where(path, line, name)
        for path in modules(package)
        for line, name in imports(path, SOURCE / package / package)
        if name.split(".")[0].startswith("lodestar") and name.split(".")[0] not in own
    ]
    assert modules(package), f"{package} has no modules"
    assert found == []


def test_of_the_bringup_only_the_mission_command_speaks_ros() -> None:
    """Starter and launch files only start the stack, and must not import it."""
    found = [
        where(path, line, name)
        for path in modules("lodestar_bringup")
        for line, name in imports(path, SOURCE / "lodestar_bringup" / "lodestar_bringup")
        if path.name != "mission.py" and name.split(".")[0] in ("lodestar_ros", "rclpy")
    ]
    assert found == []


def test_only_nodes_of_the_simulator_and_the_live_parts_of_the_benchmarks_speak_ros() -> None:
    """World, robot, sensors and episodes must also run on a machine without ROS."""
    found = []
    for package in ("lodestar_sim", "lodestar_eval"):
        for path in modules(package):
            inside = path.relative_to(SOURCE / package / package).parts
            if inside[0] in ("nodes", "bags.py", "live") or inside[0].startswith("demo"):
                continue
            for line, name in imports(path, SOURCE / package / package):
                top = name.split(".")[0]
                if top == "lodestar_ros" or (ROS.match(top) and not top.startswith("lodestar_")):
                    found.append(where(path, line, name))
    assert found == []


def test_of_the_console_only_node_and_intake_speak_ros() -> None:
    """Board, access and web must also run from a script without ROS."""
    found = []
    for path in modules("lodestar_console"):
        if path.relative_to(SOURCE / "lodestar_console" / "lodestar_console").parts[0] in ("nodes", "intake"):
            continue
        for line, name in imports(path, SOURCE / "lodestar_console" / "lodestar_console"):
            top = name.split(".")[0]
            if ROS.match(top) and top != "lodestar_console":
                found.append(where(path, line, name))
    assert found == []


def _constructed(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of every call of a bare or dotted name in a file, except raised errors."""
    nodes = list(ast.walk(tree_of(path)))
    raised = {id(node.exc) for node in nodes if isinstance(node, ast.Raise)}
    for node in nodes:
        if isinstance(node, ast.Call) and id(node) not in raised:
            yield node.lineno, _called(node)


def _assembled(pattern: str) -> dict[str, str]:
    """Return names that modules matching `pattern` import from rooms and call: name -> module; no configurations."""
    found: dict[str, str] = {}
    for path in sorted(CORE.glob(pattern)):
        imported = dict(name.rsplit(".", 1)[::-1] for _, name in imports(path, CORE) if _is_of_a_room(name))
        called = {name for _, name in _constructed(path)} & imported.keys()
        found |= {name: imported[name] for name in called if not name.endswith("Config")}
    return found


def _is_of_a_room(name: str) -> bool:
    return name.startswith("lodestar.") and not name.startswith("lodestar.assembly.")


def _is_part(name: str, module: str) -> bool:
    """Return whether a name is a class with state, i.e. neither a function, a dataclass nor a NamedTuple."""
    path = SOURCE / "lodestar" / f"{module.replace('.', '/')}.py"
    kinds = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ClassDef)]
    tuples = {kind.name for kind in kinds if any(ast.unparse(base) == "NamedTuple" for base in kind.bases)}
    return any(kind.name == name and not kind.decorator_list for kind in kinds if name not in tuples)


def _parts() -> set[str]:
    """Return the names of parts of the robot, which only the assembly may construct.

    These are the classes and factories called by `assembly/*parts.py`, and the classes constructed by
    `assembly/*_chain.py` and the factories of the experts.
    """
    chained = {name for name, module in _assembled("assembly/*_chain.py").items() if _is_part(name, module)}
    factories = {name for name, module in _assembled("experts/registry.py").items() if _is_part(name, module)}
    return (_assembled("assembly/*parts.py").keys() | chained | factories) - _RECORDS


#: Exceptions that other modules may call too: parts of a configuration, a record that messages are converted to,
#: functions, and periods.
_RECORDS = {
    "FloorLooks",
    "OpenAiChat",
    "make_reward",
    "SceneMirror",
    "SnapshotUpkeep",
    "RegionMap",
    "decode_picture",
    "experts",
    "pages_of",
    "Periodic",
    "Phased",
}


def test_only_the_assembly_constructs_the_parts_of_the_robot() -> None:
    """Nodes, simulator and benchmarks get their parts from the assembly, so that benchmarks measure the real robot."""
    parts = _parts()
    assert {"OctoMapper", "ScanGridMapper", "SemanticVoxelMap", "SceneDictionary", "SceneTargets"} <= parts
    assert {"FrontierExpert", "SemanticMapExpert", "EgocentricExpert", "DecisionLoop", "policy_of"} <= parts
    assert {"Segmenter", "SceneChanges", "LookedPlaces", "LastSeenPlaces"} <= parts
    assert {"Enricher", "MovedThings", "ModelPictures"} <= parts
    found = [
        f"{path.relative_to(ROOT)}:{line} calls {name}; ask lodestar.assembly for it"
        for package in ("lodestar_ros", "lodestar_sim", "lodestar_eval")
        for path in modules(package)
        for line, name in _constructed(path)
        if name in parts
    ]
    assert found == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_modules_of_a_package_import_each_other_in_a_circle(package: str) -> None:
    """Imports at module level count, also those for type checking only."""
    assert circles(SOURCE / package / package) == []


def circles(root: Path) -> list[tuple[str, ...]]:
    """Return the import cycles below a package's folder, as tuples of module names; imports at module level count."""
    files = {_name(path, root): path for path in sorted(root.rglob("*.py"))}
    graph = {name: _imported(path, root, set(files)) - {name} for name, path in files.items()}
    reach = {name: _reachable(name, graph) for name in graph}
    groups = {tuple(sorted(o for o in reach[n] if n in reach[o])) for n in graph if n in reach[n]}
    return sorted(groups)


def _name(path: Path, root: Path) -> str:
    parts = [root.name, *path.relative_to(root).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(path: Path, root: Path, modules: set[str]) -> set[str]:
    """Return the names of modules of the package that a file imports outside functions."""
    tree = tree_of(path)
    inside = {
        id(inner)
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(outer)
    }
    lines = {
        n.lineno for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom) and id(n) not in inside
    }
    found = set()
    for line, name in imports(path, root):
        if line in lines:
            found |= {m for m in (name, name.rpartition(".")[0]) if m in modules}
    return found


def _reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += graph[name]
    return seen


def test_a_circle_through_type_checking_is_seen_and_one_in_a_function_is_not(tmp_path: Path) -> None:
    package = tmp_path / "ring"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("if TYPE_CHECKING:\n    from ring.c import C\n")
    (package / "b.py").write_text("from .a import A\n")
    (package / "c.py").write_text("import ring.b\n")
    (package / "d.py").write_text("from ring import a\ndef late():\n    from ring.e import E\n")
    (package / "e.py").write_text("from ring.d import D\n")
    assert circles(package) == [("ring.a", "ring.b", "ring.c")]


def test_the_rules_see_what_they_forbid(tmp_path: Path) -> None:
    """The scanner finds plain, from, relative, nested and dynamic imports."""
    package = tmp_path / "lodestar"
    (package / "grid").mkdir(parents=True)
    path = package / "grid" / "bad.py"
    path.write_text(
        "import rclpy.node\n"
        "from sensor_msgs.msg import Image\n"
        "from ..agent import loop\n"
        "def late():\n"
        "    from tf2_ros import Buffer\n"
        "    importlib.import_module('launch_ros.actions')\n"
        "    __import__(name)\n"
    )
    names = [name for _, name in imports(path, package)]
    assert names == [
        "rclpy.node",
        "sensor_msgs.msg.Image",
        "lodestar.agent.loop",
        "tf2_ros.Buffer",
        "launch_ros.actions",
        "<computed>",
    ]
    ros = [name for name in names if ROS.match(name.split(".")[0])]
    assert ros == ["rclpy.node", "sensor_msgs.msg.Image", "tf2_ros.Buffer", "launch_ros.actions"]
    assert not any(ROS.match(name) for name in ("lodestar", "numpy", "cv2", "torch", "launchpad"))


#: Libraries missing from the environment of `make setup`, or present only as a dependency of another package.
EXTRAS = {"torch": "lodestar.mapping.voxels.cells_torch", "sentence_transformers": "lodestar.models.embedder",
          "transformers": "lodestar.models.embedder", "ultralytics": "lodestar.perception.ultralytics",
          "torchvision": "lodestar.perception.ultralytics", "pandas": ""}  # fmt: skip


@pytest.mark.parametrize("library", EXTRAS)
def test_an_extra_is_imported_where_it_is_used_and_only_when(library: str) -> None:
    """Optional libraries are imported in one module, inside a function; pandas, a dependency of pymilvus, nowhere."""
    found = set()
    for package in PACKAGES:
        for path in modules(package):
            functions = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef)]
            for line, name in imports(path, SOURCE / package / package):
                if name.split(".")[0] == library:
                    found.add(_name(path, SOURCE / package / package))
                    late = any(one.lineno < line <= (one.end_lineno or 0) for one in functions)
                    assert late, where(path, line, name)
    assert found == ({EXTRAS[library]} if EXTRAS[library] else set())


def test_rclpy_is_started_with_the_interfaces_of_the_profile() -> None:
    """Only `init_ros` calls rclpy.init. Isaac Sim's Python, in isaac/, does not have it."""
    found = {
        path.relative_to(ROOT).as_posix()
        for path in (*(one for package in PACKAGES for one in modules(package)), *ROOT.glob("scripts/*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Call) and ast.unparse(node.func) in ("rclpy.init", "init", "rclpy.context.init"))
        or (isinstance(node, ast.ImportFrom) and node.module == "rclpy" and "init" in {one.name for one in node.names})
    }  # fmt: skip
    assert found == {"src/lodestar_ros/lodestar_ros/executors.py"}
