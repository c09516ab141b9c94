"""Tests that the first loop closure of a process compiles or loads no kernel."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from numba.core.dispatcher import Dispatcher
from lodestar_eval import closure_times

def ready():
    return {
        f"{name}.{key}": len(value.signatures)
        for name, module in list(sys.modules.items()) if name.startswith("lodestar")
        for key, value in list(vars(module).items()) if isinstance(value, Dispatcher)
    }

beside = closure_times._beside_heartbeats

def counted(workers):
    before = ready()
    found = beside(workers)
    print("LATE", sorted(key for key, count in ready().items() if count > before.get(key, 0)))
    return found

closure_times._beside_heartbeats = counted
if len(sys.argv) > 1:
    closure_times.rehearse_plan = closure_times.rehearse_voxels = lambda config: None
found = closure_times.large_closure(side=12.0, entities=30)
assert found["moved"] > 0.3 and found["entities"] == 30.0
"""


def late(*arguments: str) -> str:
    """Return the names of the kernels that a closure had to load, as the text of a list."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=True, timeout=300
    )
    return next(line for line in done.stdout.splitlines() if line.startswith("LATE"))


def test_a_rehearsal_loads_what_a_closure_needs():
    assert late() == "LATE []"
    assert "add_moved" in late("without a rehearsal")
