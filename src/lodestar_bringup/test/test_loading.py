"""Tests that the warm process imports only modules of nodes, and stays safe to fork."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="numba is not installed")

KERNELS = """
import numba as nb
@nb.njit(cache=True)
def doubled(values):
    return values * {factor}
@nb.njit(cache=True)
def never_called(values):
    return values
@nb.njit
def not_kept(values):
    return values + 1
"""
COMPILE = (
    "import numpy as np; import kernels as k; k.doubled(np.ones(3)); k.doubled(2); k.not_kept(2); print('{}')"
)
LOAD = """
import json, numpy as np, kernels as k
from lodestar_bringup.loading import load_kernels
loaded = load_kernels([k])
results = [float(k.doubled(np.ones(3)).sum()), k.doubled(2)]
hits, misses = (sum(count.values()) for count in (k.doubled.stats.cache_hits, k.doubled.stats.cache_misses))
print(json.dumps({"loaded": loaded, "again": load_kernels([k]), "results": results, "hits": hits, "misses": misses}))
"""
EVERY_NODE = """
import json, os
from lodestar_bringup.node_forks import main_of
from lodestar_bringup.options import StackOptions
from lodestar_bringup.places import executable_path
from lodestar_bringup.stack import USES, stack
from lodestar_bringup.warm_process import TraceListeners, load, threads
load("rclpy")
listeners = TraceListeners()
specs = [spec for use in USES for spec in stack(use, StackOptions(navigator="" if use in ("sim", "go2_stand_in") else
         "external", operator=True))]
mains = {main_of(spec.package, executable_path(spec.package, spec.executable)) for spec in specs}
problems = [problem for main in sorted(mains) if (problem := load(main.partition(":")[0]))]
places = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd") if int(name) > 2]
files = {os.readlink(place) for place in places if os.path.exists(place)} - {"/dev/null"}
print(json.dumps({"mains": sorted(mains), "problems": problems, "threads": threads() - listeners.threads,
                  "files": sorted(files)}))
"""

PARTS = """
import json, sys
from lodestar_bringup.warm_process import load
names = ("mapping", "semantic_voxels", "scene_dictionary", "frontier_expert", "goal_selector")
problems = [load(f"lodestar_ros.nodes.{name}_node") for name in names]
known = set(sys.modules)
from lodestar.assembly import parts
from lodestar.assembly.config import RobotConfig
from lodestar.experts.registry import FRONTIER
from lodestar.models.phrases import PhraseBook
config, phrases = RobotConfig(), PhraseBook()
scene = parts.scene_dictionary(config.scene_dictionary)
made = [parts.voxel_map(config.semantic_voxels, config.shared), scene, parts.directive_parser(),
        parts.plan_mapper(config.mapping), parts.expert(FRONTIER, phrases=phrases),
        parts.decision_loop(parts.loop_context(
            config.goal_selector, config.shared, phrases, parts.policy(config.goal_selector)))]
print(json.dumps({"problems": problems, "late": sorted(set(sys.modules) - known), "made": len(made)}))
"""


def told(code: str, folder: Path, **variables: str) -> dict[str, Any]:
    """Run a Python program and return its output, parsed as JSON."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), **variables}
    environment["PYTHONPATH"] = f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_compiled_loops_are_loaded_and_none_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS.format(factor=2))
    told(COMPILE, tmp_path)
    seen = told(LOAD, tmp_path)
    assert seen == {"loaded": 2, "again": 2, "results": [6.0, 4], "hits": 2, "misses": 0}


def test_loops_of_an_older_source_or_another_processor_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS.format(factor=2))
    told(COMPILE, tmp_path)
    assert told(LOAD, tmp_path, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")["loaded"] == 0
    (tmp_path / "kernels.py").write_text(KERNELS.format(factor=30))
    seen = told(LOAD, tmp_path)
    assert (seen["loaded"], seen["results"], seen["misses"]) == (0, [90.0, 60], 2)


@pytest.mark.ros
def test_no_library_of_any_node_starts_a_thread_or_keeps_a_file_open(tmp_path: Path) -> None:
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")
    variables = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    seen = told(EVERY_NODE, tmp_path, NUMBA_CACHE_DIR=os.environ.get("NUMBA_CACHE_DIR", ""), **variables)
    assert len(seen["mains"]) > 15
    assert all(seen["mains"]), "every node of the stacks can be forked"
    assert (seen["problems"], seen["threads"], seen["files"]) == ([], 1, [])


@pytest.mark.ros
def test_what_the_makers_of_a_nodes_parts_import_is_there_before_the_fork(tmp_path: Path) -> None:
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    pytest.importorskip("lodestar_interfaces", reason="the workspace is not built")
    seen = told(PARTS, tmp_path, NUMBA_CACHE_DIR=os.environ.get("NUMBA_CACHE_DIR", ""))
    assert seen == {"problems": [""] * 5, "late": [], "made": 6}


def test_makers_that_a_module_names_are_found_with_those_that_they_call() -> None:
    code = """
import json, sys, types
from lodestar.assembly import parts
from lodestar_bringup.loading import load_parts
import lodestar.assembly.session_maps as one, lodestar.assembly.range_turns as other
named, there = sorted(load_parts([one, other])), sys.modules.keys()
print(json.dumps([named, "lodestar.scene.dictionary" in there, "lodestar.language.likely_questions" in there]))
"""
    told_of = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    named, loaded, stranger = json.loads(told_of.stdout)
    assert named == ["category_priors", "plan_mapper_from", "scene_dictionary"]
    assert loaded and not stranger, "nobody here asks for it"
