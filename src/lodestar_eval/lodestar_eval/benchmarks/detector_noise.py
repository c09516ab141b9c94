"""Benchmark: noise of a real detector, measured on labelled real frames and on rendered views of the simulator."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.metrics import mean
from lodestar_eval.options import positive_int, seed_list
from lodestar_eval.registry import BadOptions, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar_eval.detector_fit import Fitted
    from lodestar_eval.detector_sights import Sight, Sights

_LEAST_SIZE = 16.0  # pixels, least size of an object in the tables; chosen: smaller ones are rarely detected
_THRESHOLDS = {"objectron": 0.5}  # of a network's publisher, by the name of its file: MediaPipe's graph


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, required=True, help="recording with labels, as for `real-images`"
    )
    parser.add_argument("--labels", type=Path, default=None, metavar="FILE", help="as for `real-images`")
    parser.add_argument("--worlds", default="apartment,office", help="rendered (default apartment,office)")
    parser.add_argument(
        "--seeds", type=seed_list, default=seed_list("501-503"), help="of each (default 501-503)"
    )
    parser.add_argument("--frames", type=positive_int, default=100, help="of each building (default 100)")
    parser.add_argument(
        "--model", default="", metavar="FILE", help="network (default: that of `make detector`)"
    )


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.assembly import parts
    from lodestar.perception.config import OnnxConfig
    from lodestar.perception.frames import DetectorUnavailable
    from lodestar.perception.measured_noise import EVIDENCE_LEAST
    from lodestar.perception.onnx_detector import OnnxDetector
    from lodestar_eval.coco_labels import COCO_OF, coco_class
    from lodestar_eval.detector_fit import fit, fit_evidence
    from lodestar_eval.detector_sights import Sights, judged, recorded, rendered
    from lodestar_eval.real_images.robot import robot_config
    from lodestar_eval.studies.real_images import open_labelled
    from lodestar_sim.worlds import WorldError, world_from_spec

    room, recording = open_labelled(options.data, options.labels)
    config = robot_config(options.model or parts.FETCHED_DETECTOR).perception
    evidence = {}
    try:
        for model in filter(None, config.model.split(",") if "," in config.model else ()):
            onnx = OnnxConfig(confidence=EVIDENCE_LEAST)
            network = parts.color_detector(replace(config, model=model.strip(), onnx=onnx))
            assert isinstance(network, OnnxDetector)
            name = Path(model.strip()).stem
            threshold = _THRESHOLDS.get(name, OnnxConfig().confidence)
            evidence[name] = fit_evidence(judged(room, recording.frames(), network, threshold), threshold)
            progress(f"{model}: evidence of {room.name}")
        detector = parts.color_detector(config, evidence=evidence or None)
        named = partial(coco_class, names=detector.vocabulary.names)
    except (DetectorUnavailable, ValueError) as error:
        raise BadOptions(str(error)) from error
    real = recorded(room, recording.frames(), detector, named)
    if not any(sight.found == sight.kind != "" for sight in real.things):
        raise BadOptions(
            f"{room.name}: the detector sees none of the labelled things; nothing can be measured"
        )
    progress(f"{room.name}: {real.frames} frames, {len(real.things)} sights")
    views = []
    for kind in options.worlds.split(","):
        for seed in options.seeds.values:
            try:
                world = world_from_spec(kind, seed)
            except WorldError as error:
                raise BadOptions(str(error)) from error
            views.append(rendered(world, f"{kind} {seed}", seed, detector, coco_class, options.frames))
            progress(f"{kind} {seed}: {views[-1].frames} views, {len(views[-1].things)} sights")
    simulated = Sights(
        sum(one.frames for one in views),
        tuple(sight for one in views for sight in one.things),
        tuple(stray for one in views for stray in one.strays),
    )
    source = (
        f"{detector.name}: {real.frames} frames of {room.name} against its labels; strays of {simulated.frames} "
        f"rendered views of {options.worlds}, seeds {options.seeds.values[0]} to {options.seeds.values[-1]}"
    )
    fitted = fit(real, simulated, COCO_OF, source)
    fitted.record["evidence"] = {name: asdict(one) for name, one in evidence.items()}
    (folder / "measured.json").write_text(json.dumps(fitted.record, indent=1) + "\n", encoding="utf-8")
    return _result(fitted, real, simulated)


def _result(fitted: Fitted, real: Sights, simulated: Sights) -> Result:
    record = fitted.record
    metrics = {name: record[name] for name in ("lasting", "shift", "wrong", "strays", "stray_shift")}
    metrics["real.recall"] = _recall(real.things)
    metrics["rendered.recall"] = _recall(simulated.things)
    outside = [one for one in simulated.things if not one.kind and one.size >= _LEAST_SIZE]
    metrics["rendered.outside_named"] = mean([float(one.score > 0.0) for one in outside])
    metrics["strays_again"] = mean([float(stray.again) for stray in simulated.strays])
    return Result(
        metrics,
        tables=(
            _bins(fitted),
            _kinds("Real frames, by class", real),
            _kinds("Rendered views, by class", simulated),
        ),
        notes=(
            "`measured.json` is the noise as `perception/measured/` keeps it. Recall, boxes, scores and flicker "
            "are those of the real frames; rendered views give the detections where no thing is, because there every "
            "thing is known. `lasting` is the share of what decides about a miss that a thing keeps, `shift` the "
            "change of viewpoint (radians, logarithm of the distance) over which the rest is correlated, "
            "`stray_shift` that over which a stray stays. `strays_again`: share of strays that the frame before had.",
        ),
    )


def _recall(things: Sequence[Sight]) -> float:
    """Return the share of objects, among the detector's classes, that are detected with the right label."""
    named = (sight for sight in things if sight.kind and sight.size >= _LEAST_SIZE)
    return mean([float(sight.found == sight.kind) for sight in named])


def _bins(fitted: Fitted) -> Table:
    record = fitted.record
    far = [*record["distances"][1:], None]
    columns = [
        f"{low:g} m and more" if high is None else f"{low:g} to {high:g} m"
        for low, high in zip(record["distances"], far)
    ]
    rows = [
        (f"from {size:g}", *(f"{chance:.2f} ({hit} of {seen})" for chance, hit, seen in zip(*bins)))
        for size, *bins in zip(record["sizes"], record["recall"], fitted.hits, fitted.sights)
    ]
    title = "Recall by size and distance, each class alike (hits of sights)"
    return Table(title, ("size, pixels", *columns), tuple(rows))


def _kinds(title: str, sights: Sights) -> Table:
    rows = []
    for kind in sorted({sight.kind for sight in sights.things}):
        own = [sight for sight in sights.things if sight.kind == kind and sight.size >= _LEAST_SIZE]
        if own:
            wrong = [float(sight.found != kind) for sight in own if sight.score > 0.0]
            size = float(np.median([sight.size for sight in own]))
            right = f"{_recall(own):.2f}" if kind else ""
            wrong_text = f"{mean(wrong):.2f}" if wrong else ""
            rows.append((kind or "outside of COCO", str(len(own)), f"{size:.0f}", right, wrong_text))
    names = ("class", "sights", "median size, pixels", "recall", "of detections wrong")
    return Table(title, names, tuple(rows))


BENCHMARK = Benchmark(
    "detector-noise",
    "Noise of a real detector for the simulator: misses, flicker, labels and boxes, measured.",
    _add_options,
    _run,
)
