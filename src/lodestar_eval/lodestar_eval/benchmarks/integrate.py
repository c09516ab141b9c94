"""Benchmark: time to integrate a 640 x 480 frame into the voxel map, against Open3D's geometry alone."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.options import data_folder, positive_int
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar.perception.frames import RgbdFrame, SegmentedFrame

_RATIO_BOUND = 3.0  # the bar on the ratio to Open3D
_WARM_UP = 5  # uncounted first frames of each round, in which buffers grow and code is compiled
_BLOCK_SIDES = (8, 16)  # voxels per side of a block; Open3D's default is 16, ours 8
STAGES = ("geometry", "instances", "together", "peer_8", "peer_16")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        default=None,
        help="recording (default: rgbd_7scenes in $LODESTAR_DATA, if that is set)",
    )
    parser.add_argument("--world", default="apartment", help="simulated world (default apartment)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--frames", type=positive_int, default=100, help="of each source (default 100)")
    parser.add_argument("--rounds", type=positive_int, default=5, help="times that all is run (default 5)")


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    sources = {"simulator": _simulated(options)}
    recorded = _recorded(options)
    if recorded:
        sources["7scenes"] = recorded
    else:
        progress("no recording: set LODESTAR_DATA or give --data; only simulator frames are measured")
    metrics: dict[str, float] = {}
    for name, frames in sources.items():
        # the first round compiles, so it is dropped
        rounds = [_measure(frames) for _ in range(options.rounds + 1)][1:]
        metrics.update(_summary(name, rounds))
        progress(
            f"{name}: geometry {metrics[f'{name}.geometry_ms']:.2f} ms, instances "
            f"{metrics[f'{name}.instances_ms']:.2f} ms, Open3D's geometry {metrics[f'{name}.peer_ms']:.2f} ms: "
            f"{metrics[f'{name}.ratio']:.2f}x"
        )
        metrics[f"{name}.surface_gap_mm"] = _surface_gap(frames)
    return _result(metrics, list(sources), options)


def _simulated(options: argparse.Namespace) -> list[tuple[RgbdFrame, SegmentedFrame]]:
    from lodestar.assembly import parts
    from lodestar.assembly.config import PerceptionConfig
    from lodestar.perception.frames import RgbdFrame
    from lodestar_eval.settings import NOISES
    from lodestar_eval.tour import Tour, TourConfig
    from lodestar_sim.worlds import WorldError, world_from_spec

    try:
        world = world_from_spec(options.world, options.seed)
    except WorldError as error:
        raise BadOptions(str(error)) from error
    detector = parts.ground_truth_detector(PerceptionConfig(noise=NOISES["mild"], seed=options.seed))
    pairs = []
    tour = Tour(world, options.seed, TourConfig(width=640, height=480))
    for image in (frame.image for _, frame in zip(range(options.frames), tour.frames())):
        frame = RgbdFrame(image.stamp, image.camera, image.depth, image.odom_from_camera, image.map_from_odom)
        pairs.append((frame, detector.segment(image.stamp, image.labels, image.label_table)))
    return pairs


def _recorded(options: argparse.Namespace) -> list[tuple[RgbdFrame, SegmentedFrame]]:
    """Return recorded frames with class-agnostic segments; the segmentation time is not measured."""
    from lodestar.assembly import parts
    from lodestar_eval.recording_sources import open_recording
    from lodestar_eval.recordings import BadRecording

    if options.data is None and not os.environ.get("LODESTAR_DATA"):
        return []
    path = data_folder(options.data, "rgbd_7scenes")
    try:
        recording = open_recording(path)
    except BadRecording as error:
        raise BadOptions(str(error)) from error
    segmenter = parts.geometric_segmenter()
    frames = [replace(frame, rgb=None) for _, frame in zip(range(options.frames), recording.frames())]
    return [(frame, segmenter.segment(frame.stamp, frame.depth, frame.camera, None)) for frame in frames]


def _measure(frames: list[tuple[RgbdFrame, SegmentedFrame]]) -> dict[str, np.ndarray]:
    """Return, per stage, the wall and the processor seconds of every frame, (frames, 2).

    Every frame is processed in turn by our map on one thread, by our map on two threads, and by Open3D.
    """
    from lodestar.assembly import parts
    from lodestar_eval.peers import Open3dVolume

    voxels, beside = parts.voxel_map(), parts.voxel_map()
    peers = {f"peer_{side}": Open3dVolume(side) for side in _BLOCK_SIDES}
    seconds: dict[str, list[tuple[float, float]]] = {stage: [] for stage in STAGES}

    def timed(stage: str, work: Callable[[], object]) -> None:
        began, began_cpu = time.perf_counter(), time.process_time()
        work()
        seconds[stage].append((time.perf_counter() - began, time.process_time() - began_cpu))

    def together(frame: RgbdFrame, segmented: SegmentedFrame) -> None:
        """Integrate a frame as the node does, with depth on its own thread."""
        depth = thread.submit(beside.integrate_depth, frame)
        beside.fuse(frame, segmented)
        depth.result()

    with ThreadPoolExecutor(1) as thread:
        for frame, segmented in frames:
            timed("geometry", partial(voxels.integrate_depth, frame))
            timed("instances", partial(voxels.fuse, frame, segmented))
            timed("together", partial(together, frame, segmented))
            for stage, peer in peers.items():
                inputs = peer.convert(frame)
                timed(stage, partial(peer.integrate, *inputs))
    return {stage: np.array(values[_WARM_UP:]) for stage, values in seconds.items()}


def _summary(name: str, rounds: list[dict[str, np.ndarray]]) -> dict[str, float]:
    """Return medians over frames, then over rounds, ms; ratios are to the faster Open3D map of a round."""
    passed = [_round({stage: values[:, 0] for stage, values in one.items()}) for one in rounds]
    processor = [_round({stage: values[:, 1] for stage, values in one.items()}) for one in rounds]
    summary = {f"{name}.{key}": float(np.median([one[key] for one in passed])) for key in passed[0]}
    summary[f"{name}.ratio_worst_round"] = max(one["ratio"] for one in passed)
    for key in ("ratio", "geometry_ratio"):
        summary[f"{name}.{key}_of_processor_time"] = float(np.median([one[key] for one in processor]))
    return summary


def _round(seconds: dict[str, np.ndarray]) -> dict[str, float]:
    result = {f"{stage}_ms": 1e3 * float(np.median(values)) for stage, values in seconds.items()}
    result["both_ms"] = 1e3 * float(np.median(seconds["geometry"] + seconds["instances"]))
    result["peer_ms"] = min(result["peer_8_ms"], result["peer_16_ms"])
    result["ratio"] = result["both_ms"] / result["peer_ms"]
    result["geometry_ratio"] = result["geometry_ms"] / result["peer_ms"]
    result["together_ratio"] = result["together_ms"] / result["peer_ms"]
    return result


def _surface_gap(frames: list[tuple[RgbdFrame, SegmentedFrame]]) -> float:
    """Return the median distance, mm, of Open3D's surface points to our mesh of the same frames."""
    import open3d as o3d

    from lodestar.mapping.voxels.mesh import extract_mesh
    from lodestar.mapping.voxels.tsdf import TsdfVolume
    from lodestar_eval.peers import Open3dVolume

    volume, peer = TsdfVolume(), Open3dVolume(8)
    for frame, _ in frames:
        volume.integrate(frame.depth, frame.camera, frame.map_from_camera)
        peer.integrate(*peer.convert(frame))
    mesh = extract_mesh(volume)
    scene = o3d.t.geometry.RaycastingScene()
    scene.add_triangles(o3d.core.Tensor(mesh.vertices), o3d.core.Tensor(mesh.faces.astype(np.uint32)))
    return 1e3 * float(np.median(scene.compute_distance(o3d.core.Tensor(peer.surface())).numpy()))


def _result(metrics: dict[str, float], sources: list[str], options: argparse.Namespace) -> Result:
    columns = (
        "source", "geometry ms", "instances ms", "both ms", "on two threads ms", "Open3D 8^3 ms", "Open3D 16^3 ms",
        "both / Open3D", "two threads / Open3D",
    )  # fmt: skip
    keys = (
        "geometry_ms", "instances_ms", "both_ms", "together_ms", "peer_8_ms", "peer_16_ms", "ratio", "together_ratio",
    )  # fmt: skip
    rows = tuple((name, *(f"{metrics[f'{name}.{key}']:.2f}" for key in keys)) for name in sources)
    return Result(
        metrics,
        bars=tuple(Bar(f"{name}.ratio", metrics[f"{name}.ratio"], _RATIO_BOUND, False) for name in sources),
        tables=(Table("Median time per frame", columns, rows),),
        notes=(
            "Geometry is `integrate_depth` (surfaces, and carving of instances), instances is `fuse` (association, "
            "votes, carving, extraction); `both` is one after the other on one thread, and what the bar is on; `on two "
            "threads` is another map that takes the same frames as the node does, depth beside segments. Open3D is "
            "`compute_unique_block_coordinates` and `integrate` of VoxelBlockGrid on the same depth, distance and "
            "weight only, its conversion of the image apart; the ratio takes the faster of two block sizes. "
            "`surface_gap_mm`: median from Open3D's surface points to our mesh.",
        ),
        config={
            "threads": os.environ.get("OMP_NUM_THREADS", "all cores"),
            "voxel_m": 0.05,
            "truncation_m": 0.2,
        },
    )


BENCHMARK = Benchmark(
    "integrate", "A frame into the voxel map: time against Open3D's geometry alone.", _add_options, _run
)
