"""Tests of the heavy libraries that each node imports at start, as each costs memory and start-up time."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
PACKAGES = (
    "lodestar",
    "lodestar_ros",
    "lodestar_sim",
    "lodestar_go2",
    "lodestar_bringup",
    "lodestar_console",
)

#: Libraries that cost a process at least 10 MiB, or at least 0.1 s at start.
HEAVY = {
    "numba",
    "open3d",
    "parglare",
    "PIL",
    "scipy",
    "sentence_transformers",
    "skimage",
    "torch",
    "trimesh",
}

#: Node -> heavy libraries that it imports at start; those of its parts are loaded before the process is forked.
NODES = {
    "lodestar_ros.nodes.motion_gate_node": set(),
    "lodestar_ros.nodes.keyframes_node": set(),
    "lodestar_ros.nodes.sign_reader_node": set(),  # its worker process loads the models
    "lodestar_ros.nodes.text_embedder_node": {"scipy"},  # its worker process loads the model
    "lodestar_ros.nodes.mapping_node": {"numba"},
    "lodestar_ros.nodes.perception_node": {"numba"},
    "lodestar_ros.nodes.semantic_voxels_node": {"numba", "skimage"},
    "lodestar_ros.nodes.frontier_expert_node": {"numba", "scipy"},
    "lodestar_ros.nodes.semantic_map_expert_node": {"PIL", "numba", "scipy"},
    "lodestar_ros.nodes.ego_vlm_expert_node": {"PIL", "numba", "scipy"},
    "lodestar_ros.nodes.expert_node": {"PIL", "numba", "scipy"},
    "lodestar_ros.nodes.scene_dictionary_node": {"PIL", "parglare", "scipy", "skimage"},
    "lodestar_ros.nodes.memory_node": {"PIL", "numba", "parglare", "scipy"},
    "lodestar_ros.nodes.goal_selector_node": {"PIL", "numba", "parglare", "scipy"},
    "lodestar_ros.nodes.world_model_node": {"numba", "scipy"},
    "lodestar_ros.nodes.operator_node": set(),
    "lodestar_ros.nodes.recorder_node": set(),
    "lodestar_ros.nodes.player_node": set(),
    "lodestar_sim.nodes.sim_navigator_node": {"numba"},
    "lodestar_sim.nodes.go2_stand_in_node": set(),
    "lodestar_go2.nodes.go2_base_node": set(),
    "lodestar_go2.nodes.go2_guard_node": set(),
    "lodestar_go2.nodes.go2_lidar_node": set(),
    "lodestar_go2.nodes.cloud_scan_node": set(),
    "lodestar_console.nodes.console_node": {"parglare"},  # to hear a stop in a question
    "lodestar_bringup.__main__": set(),
}

MAKERS = ("parts",)  # modules with factories that import their parts when called; the warm process calls them

#: Nodes that parse sentences; the grammar's tables and WordNet take 30 MiB.
READERS = {
    "lodestar_console.nodes.console_node",
    "lodestar_ros.nodes.goal_selector_node",
    "lodestar_ros.nodes.memory_node",
    "lodestar_ros.nodes.scene_dictionary_node",
}


@lru_cache(maxsize=1)
def sources() -> dict[str, Path]:
    """Return module name -> file of all our modules."""
    found = {}
    for package in PACKAGES:
        root = SOURCE / package / package
        for path in root.rglob("*.py"):
            parts = [package, *path.relative_to(root).with_suffix("").parts]
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def loaded_names(tree: ast.AST) -> set[str]:
    """Return the dotted names imported when a file is loaded, i.e. not in functions or for type checking only."""
    names = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        names |= loaded_names(node)
    return names


def named_makers(tree: ast.AST) -> set[str]:
    """Return the dotted names of the part factories that a file uses anywhere; calling them triggers imports."""
    return {
        f"lodestar.assembly.{node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in MAKERS
    }


def makers() -> dict[str, frozenset[str]]:
    """Return dotted name of each part factory -> names that it imports and factories that it calls."""
    homes = {home: ast.parse(sources()[f"lodestar.assembly.{home}"].read_text()) for home in MAKERS}
    found = [
        (home, node)
        for home, tree in homes.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    ]
    names = {node.name: f"lodestar.assembly.{home}.{node.name}" for home, node in found}
    return {
        names[node.name]: frozenset(
            loaded_names(ast.Module(node.body, []))
            | {names[one.id] for one in ast.walk(node) if isinstance(one, ast.Name) and one.id in names}
        )
        for _, node in found
    }


@lru_cache(maxsize=1)
def graph() -> dict[str, frozenset[str]]:
    found = makers()
    for name, path in sources().items():
        tree = ast.parse(path.read_text(), str(path))
        found[name] = frozenset(loaded_names(tree) | named_makers(tree))
    return found


def chains(start: str) -> dict[str, str]:
    """Return every name that a module loads, directly or not -> chain of modules that leads to it."""
    found, waiting = {start: start}, [start]
    while waiting:
        module = waiting.pop(0)
        for name in sorted(graph().get(module, ())):
            for loaded in (name, name.split(".")[0]):
                if loaded not in found:
                    found[loaded] = f"{loaded} <- {found[module]}"
                    waiting.append(loaded)
    return found


def test_every_node_of_the_stack_is_named() -> None:
    nodes = {name for name in sources() if name.startswith("lodestar_ros.nodes.")}
    assert nodes == {name for name in NODES if name.startswith("lodestar_ros.nodes.")}


@pytest.mark.parametrize("node", NODES)
def test_a_node_loads_the_heavy_libraries_that_it_needs_and_no_other(node: str) -> None:
    found = {name: chain for name, chain in chains(node).items() if name in HEAVY}
    assert set(found) == NODES[node], [found[name] for name in sorted(set(found) - NODES[node])]


@pytest.mark.parametrize("node", NODES)
def test_only_who_reads_sentences_loads_the_grammar(node: str) -> None:
    language = ("lodestar.language.chart", "lodestar.models.wordnet")
    found = [chain for name, chain in chains(node).items() if name in language]
    assert bool(found) == (node in READERS), found


def test_what_is_loaded_is_told_from_what_waits() -> None:
    text = (
        "import torch.nn\nif TYPE_CHECKING:\n    import open3d\ntry:\n    from numba import njit\nexcept ImportError:\n"
        "    njit = None\ndef late():\n    import scipy\nclass Here:\n    from PIL import Image\n"
    )
    assert loaded_names(ast.parse(text)) == {"torch.nn", "numba", "numba.njit", "PIL", "PIL.Image"}
