"""The building of the map-size benchmarks: a real floor of 1,800 m2, furnished."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from lodestar_eval.registry import BadOptions

if TYPE_CHECKING:
    from lodestar_sim.worlds.world import World

_FLOOR = "50052751"  # of floorplans_kth


def add_building_options(parser: argparse.ArgumentParser) -> None:
    """Add `--world` and `--seed`, which `open_building` reads."""
    parser.add_argument(
        "--world",
        default=None,
        help=f"world (default: the building {_FLOOR} of floorplans_kth in $LODESTAR_DATA)",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the furniture (default 1)")


def open_building(options: argparse.Namespace) -> tuple[str, World]:
    """Return the world's spec and the world. Raises BadOptions."""
    from lodestar_sim.worlds import WorldError, world_from_spec

    if options.world is None and not os.environ.get("LODESTAR_DATA"):
        raise BadOptions("set LODESTAR_DATA, or give --world")
    spec = options.world or str(Path(os.environ["LODESTAR_DATA"]) / "floorplans_kth" / _FLOOR)
    try:
        return spec, world_from_spec(spec, options.seed)
    except WorldError as error:
        raise BadOptions(str(error)) from error
