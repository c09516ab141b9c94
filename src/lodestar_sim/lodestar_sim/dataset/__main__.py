"""`python -m lodestar_sim.dataset --out FOLDER`: write labelled images of simulated buildings, in COCO's format.

For training object detectors and segmenters. Output: FOLDER/images, and FOLDER/instances.json with a mask (run
lengths), box, class and caption of every object in every image.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lodestar_sim.dataset.coco import INSTANCES
from lodestar_sim.dataset.writer import Building, DatasetConfig, write_dataset
from lodestar_sim.worlds import WorldError, world_from_spec


def _seeds(text: str) -> tuple[int, ...]:
    found: dict[int, None] = {}
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or (dash and int(last) < int(first)):
            raise argparse.ArgumentTypeError(
                f"{part!r} is no seed or range of seeds; write 1000-1099 or 1,4,9"
            )
        found.update(dict.fromkeys(range(int(first), int(last if dash else first) + 1)))
    return tuple(found)


def _number(low: int, high: int, what: str) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(
                f"{text!r} is no {what}: write a whole number from {low} to {high}"
            )
        return int(text)

    return read


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (
        width.isdecimal() and height.isdecimal() and 32 <= int(width) <= 1920 and 32 <= int(height) <= 1920
    ):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no size of images; write 320x240, each side 32 to 1920 pixels"
        )
    return int(width), int(height)


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lodestar_sim.dataset",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write, new or empty")
    parser.add_argument(
        "--worlds", default="apartment,office", help="as lodestar_sim.worlds knows them, separated by commas"
    )
    parser.add_argument(
        "--seeds", type=_seeds, default=(1000,), metavar="SEEDS", help="of the buildings: 1000-1099"
    )
    parser.add_argument(
        "--per-building", type=_number(1, 100_000, "number of images"), default=50, help="images (default 50)"
    )
    parser.add_argument("--size", type=_size, default=(320, 240), help="pixels (default 320x240)")
    parser.add_argument("--seed", type=_number(0, 2**31, "seed"), default=0, help="of poses and light")
    parser.add_argument(
        "--plain", action="store_true", help="the simulator's own light and a camera that never shakes"
    )
    parser.add_argument("--depth", action="store_true", help="write depth too: 16-bit PNG, mm")
    parser.add_argument(
        "--format", choices=("jpg", "png"), default="jpg", help="of colour images (default jpg)"
    )
    parser.add_argument(
        "--jobs", type=_number(1, 256, "number of processes"), default=1, help="processes (default 1)"
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Write the dataset. Returns exit status 0, or 2 after an error, whose message is printed."""
    options = _parser().parse_args(arguments)
    specs = [spec for spec in options.worlds.split(",") if spec]
    out: Path = options.out
    try:
        if not specs:
            raise WorldError("--worlds names none: write apartment,office")
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise WorldError(f"{out} is not empty: name a new folder, so that nothing is lost")
        for spec in specs:
            world_from_spec(spec, options.seeds[0])
        width, height = options.size
        config = DatasetConfig(
            width,
            height,
            options.per_building,
            options.seed,
            not options.plain,
            options.depth,
            options.format,
        )
        buildings = [Building(spec, seed) for seed in options.seeds for spec in specs]
        began = time.perf_counter()
        made = write_dataset(out, buildings, config, options.jobs, _tell)
    except (WorldError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    seconds = time.perf_counter() - began
    sys.stdout.write(
        f"{out / INSTANCES}: {len(made.images)} images, {len(made.annotations)} objects of "
        f"{len({one.category_id for one in made.annotations})} classes in {len(buildings)} buildings, {seconds:.0f} s\n"
    )
    return 0


if __name__ == "__main__":
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    sys.exit(main())
