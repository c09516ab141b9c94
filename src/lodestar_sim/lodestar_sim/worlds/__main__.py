"""`python -m lodestar_sim.worlds SPEC [--seed N] [--png FILE] [--save FILE]`: draw, save and check a world."""

from __future__ import annotations

import argparse
import sys

from lodestar_sim.worlds.checks import check_world
from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.floorplan import KINDS
from lodestar_sim.worlds.sources import with_kind, world_from_spec
from lodestar_sim.worlds.top_view import draw_world


def main(arguments: list[str] | None = None) -> int:
    """Draw, save and check a world. Returns exit status 0 if it is valid, else 2, with a message printed."""
    parser = argparse.ArgumentParser(prog="python -m lodestar_sim.worlds", description=__doc__)
    parser.add_argument(
        "spec",
        help="apartment, office, warehouse (?locked=1, ?stairs=1, ?hole=1, ?sills=1, ?events=1), laboratory, ramp, "
        "a world file or a map",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, help="as what a map is furnished (default office)")
    parser.add_argument("--png", help="draw it from above")
    parser.add_argument("--save", help="write it as JSON")
    parser.add_argument(
        "--time", type=float, default=0.0, help="seconds after the start at which it is drawn"
    )
    parser.add_argument("--no-names", action="store_true", help="draw no names")
    options = parser.parse_args(arguments)
    try:
        world = world_from_spec(with_kind(options.spec, options.kind), options.seed)
        check_world(world)
        if options.save:
            world.save(options.save)
        if options.png:
            draw_world(world, options.png, names=not options.no_names, time=options.time)
    except (WorldError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    classes = len({thing.category for thing in world.objects})
    sys.stdout.write(
        f"{world.name}, seed {world.seed}: {len(world.rooms)} rooms, {len(world.objects)} objects of {classes} kinds, "
        f"{len(world.geometry().triangles)} triangles, {len(world.events)} events\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
