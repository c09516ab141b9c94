"""Study: masks from boxes and depth against true masks in simulated buildings; processor time of NanoDet."""

from __future__ import annotations

import argparse
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING

from lodestar_eval.metrics import mean
from lodestar_eval.options import add_jobs_option, positive_int
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole, count

if TYPE_CHECKING:
    from lodestar.perception.onnx_detector import OnnxDetector

#: (world, seed) of the tests. The parameters were tuned on apartments and offices 41 and 42 and warehouse 41.
WORLDS = (
    ("apartment", 61), ("office", 61), ("warehouse", 61), ("apartment", 62), ("office", 62), ("apartment", 63),
    ("office", 63), ("apartment", 64), ("warehouse", 62), ("office", 64), ("apartment", 65), ("apartment", 66),
)  # fmt: skip
_PERIOD = 4.0  # simulated seconds between views
_RATE = 5.0  # images per second, for the share of a core
_BOXES = {"tight": "tight", "jittered": "jittered by 10 %", "nanodet": "NanoDet's"}
_PIXELS = {0.0: "below 1,000", 1000: "1,000 to 4,000", 4000: "4,000 to 16,000", 16000: "more"}  # of 640 x 480
_METRES = {0.0: "below 1.5 m", 1.5: "1.5 to 3 m", 3.0: "3 to 5 m"}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--worlds", type=positive_int, default=len(WORLDS), help="how many of the 12 (default all)"
    )
    parser.add_argument("--seed-offset", type=int, default=0, help="added to the seeds: other buildings")
    parser.add_argument("--views", type=positive_int, default=40, help="of each building (default 40)")
    add_jobs_option(parser)


def _cases(options: argparse.Namespace) -> Iterator[tuple[str, int, int, bool]]:
    for kind, seed in WORLDS[: options.worlds]:
        yield kind, seed + options.seed_offset, options.views, _detector() is not None


@lru_cache(maxsize=1)
def _detector() -> OnnxDetector | None:
    """Return NanoDet, loaded; None if it is not installed."""
    from lodestar.assembly import parts
    from lodestar.assembly.config import PerceptionConfig
    from lodestar.perception.frames import DetectorUnavailable
    from lodestar.perception.onnx_detector import OnnxDetector

    try:
        made = parts.color_detector(PerceptionConfig(adapter="onnx", model="models/nanodet.onnx"))
        assert isinstance(made, OnnxDetector)
        made.load()
    except DetectorUnavailable:
        return None
    return made


def _measure(kind: str, seed: int, count: int, detects: bool) -> Iterator[Row]:
    """Yield a row per thing, view and kind of box, and one of the processor time."""
    from lodestar.assembly import parts
    from lodestar_eval.box_views import BoxTrial, views
    from lodestar_sim.worlds import world_from_spec

    world = world_from_spec(kind, seed)
    trial = BoxTrial(f"{kind} {seed}", world, seed, parts.box_masker(), _detector() if detects else None)
    for frame in views(world, seed, count, _PERIOD):
        trial.take(frame)
    for one in trial.measured:
        classes = {"_kind": kind, "_place": "on a wall" if one.mounted else "standing"}
        for column, value, names in (("_pixels", one.pixels, _PIXELS), ("_distance", one.distance, _METRES)):
            classes[column] = names[sorted(names)[bisect_right(sorted(names), value) - 1]]
        yield asdict(one) | classes
    yield {
        "building": f"{kind} {seed}",
        **{f"spent_{name}": value for name, value in asdict(trial.spent).items()},
    }


def _metrics(rows: Rows) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for kind in _BOXES:
        own = [row for row in rows if row.get("boxes") == kind]
        metrics[f"{kind}.things"] = float(len(own))
        metrics |= {f"{kind}.{of}": mean([row[of] for row in own]) for of in ("by_box", "by_depth")}
    spent = {
        name: sum(row[f"spent_{name}"] for row in rows if "spent_boxes" in row)
        for name in ("masks", "boxes", "left", "detector", "detector_masks", "frames")
    }
    metrics["ms_per_box"] = 1e3 * spent["masks"] / max(spent["boxes"], 1)
    metrics["left_as_boxes"] = spent["left"] / max(spent["boxes"], 1)
    if spent["frames"]:
        metrics["nanodet_ms"] = 1e3 * spent["detector"] / spent["frames"]
        metrics["nanodet_masks_ms"] = 1e3 * spent["detector_masks"] / spent["frames"]
        metrics["core"] = _RATE * 1e-3 * (metrics["nanodet_ms"] + metrics["nanodet_masks_ms"])
    return metrics


_BY = (("boxes",), *((one, "boxes") for one in ("_pixels", "_distance", "_kind", "_place", "category")))

BENCHMARK = Study(
    "box-masks",
    "masks of boxes from depth against true masks",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Whole(_metrics),
        *(Number("_things", "by_box", count, by=by, digits=0) for by in _BY),
        *(Number(f"_{name}", name, by=by) for by in _BY for name in ("by_box", "by_depth")),
    ),
    bars=(
        *(Limit(f"{kind}.by_depth", 0.60, name=f"mean IoU, {_BOXES[kind]} boxes") for kind in ("tight", "jittered")),
        Limit("core", 0.35, False, f"cores, NanoDet and masks at {_RATE:.0f} Hz"),
    ),
    notes=(
        "Things with 400 visible pixels and a median distance of at most 5 m, in views of a tour, with the depth noise "
        "of the simulated camera. Truth is the visible mask. Processor time is of one thread. Where NanoDet is not "
        "installed, its own boxes and its time are missing.",
    ),
)  # fmt: skip
