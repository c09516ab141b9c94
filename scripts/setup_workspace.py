"""Set up the workspace: apt packages, virtual environment, ROS 2 wheels, colcon build, compiled kernels.

Standard library only: it runs before anything is installed. Running it again does only what has changed.
"""

from __future__ import annotations

import argparse
import fcntl
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from workspace_setup.checkout import Checkout, SetupError, say
from workspace_setup.environment import EXTRAS, NO_EXTRAS, chosen_extras, make_environment
from workspace_setup.machine import check_apt, check_disk, find_python, lock, system_ros
from workspace_setup.workspace import build_workspace

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: Sequence[str], checkout: Checkout | None = None) -> int:
    """Set up the checkout so that nodes, tests and benchmarks can run; return 0 on success."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-build", action="store_true", help="stop after the Python environment")
    extras = f"{', '.join(EXTRAS)} (a comma between two) or {NO_EXTRAS}; kept until another choice"
    parser.add_argument("--extras", help=extras)
    options = parser.parse_args(arguments)
    checkout = checkout or Checkout(ROOT)
    began = time.monotonic()
    try:
        with lock(checkout) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            set_up(checkout, options.extras, build=not options.no_build)
    except SetupError as error:
        print(f"[setup] error: {error}", file=sys.stderr)
        return 1
    say(f"ready in {time.monotonic() - began:.1f} s")
    return 0


def set_up(checkout: Checkout, asked: str | None, *, build: bool) -> None:
    """Carry out all steps of the set-up. The machine is checked first: nothing is downloaded while a
    requirement is missing. asked: extras, None = those of the last time. Raises SetupError.
    """
    extras = chosen_extras(checkout, asked)
    prefix = system_ros()
    python = find_python(checkout, system=prefix is not None)
    if not checkout.venv.exists():
        check_disk(checkout.root, extras)
    check_apt(checkout, python)
    make_environment(checkout, python, prefix, extras)
    if build:
        build_workspace(checkout, prefix)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
