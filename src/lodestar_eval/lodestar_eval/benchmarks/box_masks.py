"""Benchmark: masks from boxes and depth against true masks in simulated buildings; processor time of NanoDet."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.options import positive_int
from lodestar_eval.registry import Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar_eval.box_views import Measured, Spent

#: (world, seed) of the tests. The parameters were tuned on apartments and offices 41 and 42 and warehouse 41.
WORLDS = (
    ("apartment", 61), ("office", 61), ("warehouse", 61), ("apartment", 62), ("office", 62), ("apartment", 63),
    ("office", 63), ("apartment", 64), ("warehouse", 62), ("office", 64), ("apartment", 65), ("apartment", 66),
)  # fmt: skip
_PERIOD = 4.0  # simulated seconds between views
# bars: mean IoU; share of a core, at this many images per second
_IOU_BOUND, _CORE_BOUND, _RATE = 0.60, 0.35, 5.0
_KINDS = {"tight": "tight", "jittered": "jittered by 10 %", "nanodet": "NanoDet's"}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--worlds", type=positive_int, default=len(WORLDS), help="how many of the 12 (default all)"
    )
    parser.add_argument("--seed-offset", type=int, default=0, help="added to the seeds: other buildings")
    parser.add_argument("--views", type=positive_int, default=40, help="of each building (default 40)")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.assembly import parts
    from lodestar.assembly.config import PerceptionConfig
    from lodestar.perception.frames import DetectorUnavailable
    from lodestar.perception.onnx_detector import OnnxDetector
    from lodestar_eval.box_views import BoxTrial, views
    from lodestar_sim.worlds import world_from_spec

    config = PerceptionConfig(adapter="onnx")
    notes = []
    detector: OnnxDetector | None = None
    try:
        made = parts.color_detector(config)
        assert isinstance(made, OnnxDetector)
        made.load()
        detector = made
    except DetectorUnavailable as error:
        notes.append(f"Without NanoDet's own boxes and its time: {error}.")
    measured, spent = [], []
    for number, (kind, seed) in enumerate(WORLDS[: options.worlds], 1):
        seed += options.seed_offset
        world = world_from_spec(kind, seed)
        trial = BoxTrial(f"{kind} {seed}", world, seed, parts.box_masker(), detector)
        for frame in views(world, seed, options.views, _PERIOD):
            trial.take(frame)
        measured += trial.measured
        spent.append(trial.spent)
        by_box, by_depth = _means([one for one in trial.measured if one.boxes == "jittered"])
        progress(
            f"[{number:2d}/{options.worlds}] {kind} {seed}: IoU {by_box:.3f} of boxes, {by_depth:.3f} with depth"
        )
    return _result(measured, spent, notes)


def _means(chosen: Sequence[Measured]) -> tuple[float, float]:
    if not chosen:
        return float("nan"), float("nan")
    return float(np.mean([one.by_box for one in chosen])), float(np.mean([one.by_depth for one in chosen]))


def _rows(
    measured: Sequence[Measured], groups: dict[str, Callable[[Measured], bool]]
) -> tuple[tuple[str, ...], ...]:
    rows = []
    for name, belongs in groups.items():
        chosen = [one for one in measured if belongs(one)]
        cells = []
        for kind in _KINDS:
            own = [one for one in chosen if one.boxes == kind]
            by_box, by_depth = _means(own)
            cells += [f"{len(own)}", f"{by_box:.3f}" if own else "-", f"{by_depth:.3f}" if own else "-"]
        rows.append((name, *cells))
    return tuple(rows)


def _between(name: str, low: float, high: float) -> Callable[[Measured], bool]:
    return lambda one: low <= getattr(one, name) < high


def _result(measured: Sequence[Measured], spent: Sequence[Spent], notes: list[str]) -> Result:
    infinite = float("inf")
    columns = tuple(
        f"{told}: {what}" for told in _KINDS.values() for what in ("things", "IoU of boxes", "with depth")
    )
    metrics: dict[str, float] = {}
    for kind in _KINDS:
        own = [one for one in measured if one.boxes == kind]
        metrics[f"{kind}.things"] = float(len(own))
        metrics[f"{kind}.by_box"], metrics[f"{kind}.by_depth"] = _means(own)
    boxes, frames = sum(one.boxes for one in spent), sum(one.frames for one in spent)
    metrics["ms_per_box"] = 1e3 * sum(one.masks for one in spent) / max(boxes, 1)
    metrics["left_as_boxes"] = sum(one.left for one in spent) / max(boxes, 1)
    bars = [
        Bar(f"mean IoU, {_KINDS[kind]} boxes", metrics[f"{kind}.by_depth"], _IOU_BOUND)
        for kind in ("tight", "jittered")
    ]
    if frames:
        metrics["nanodet_ms"] = 1e3 * sum(one.detector for one in spent) / frames
        metrics["nanodet_masks_ms"] = 1e3 * sum(one.detector_masks for one in spent) / frames
        metrics["core"] = _RATE * 1e-3 * (metrics["nanodet_ms"] + metrics["nanodet_masks_ms"])
        bars.append(
            Bar(f"cores, NanoDet and masks at {_RATE:.0f} Hz", metrics["core"], _CORE_BOUND, at_least=False)
        )
    sizes = {
        "below 1,000": (0, 1000),
        "1,000 to 4,000": (1000, 4000),
        "4,000 to 16,000": (4000, 16000),
        "more": (16000, infinite),
    }
    far = {"below 1.5": (0, 1.5), "1.5 to 3": (1.5, 3), "3 to 5": (3, infinite)}
    kinds = ("apartment", "office", "warehouse")
    tables = (
        Table("All things", ("", *columns), _rows(measured, {"all": lambda one: True})),
        Table(
            "By visible pixels of 640 x 480",
            ("pixels", *columns),
            _rows(measured, {name: _between("pixels", *ends) for name, ends in sizes.items()}),
        ),
        Table(
            "By distance",
            ("m", *columns),
            _rows(measured, {name: _between("distance", *ends) for name, ends in far.items()}),
        ),
        Table("By building", ("", *columns), _rows(measured, {kind: _starts(kind) for kind in kinds})),
        Table(
            "By place",
            ("", *columns),
            _rows(measured, {"on a wall": lambda one: one.mounted, "standing": lambda one: not one.mounted}),
        ),
        Table("By category, the most frequent", ("", *columns), _rows(measured, _categories(measured))),
    )
    notes.append(
        "Things with 400 visible pixels and a median distance of at most 5 m, in views of a tour, with the depth noise "
        "of the simulated camera. Truth is the visible mask. Processor time is of one thread."
    )
    return Result(metrics=metrics, bars=tuple(bars), tables=tables, notes=tuple(notes))


def _starts(kind: str) -> Callable[[Measured], bool]:
    return lambda one: one.building.startswith(kind)


def _is_a(name: str) -> Callable[[Measured], bool]:
    return lambda one: one.category == name


def _categories(measured: Sequence[Measured]) -> dict[str, Callable[[Measured], bool]]:
    counts: dict[str, int] = {}
    for one in measured:
        counts[one.category] = counts.get(one.category, 0) + (one.boxes == "jittered")
    return {name: _is_a(name) for name in sorted(counts, key=lambda name: -counts[name])[:12]}


BENCHMARK = Benchmark("box-masks", "masks of boxes from depth against true masks", _add_options, _run)
