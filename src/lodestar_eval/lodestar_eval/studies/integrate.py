"""Study: time to integrate a 640 x 480 frame into the voxel map, against Open3D's geometry alone."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar_eval.options import data_folder, positive_int
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import Limit, Number, Row, Rows, Study, Whole

if TYPE_CHECKING:
    from lodestar.perception.frames import RgbdFrame, SegmentedFrame

_WARM_UP = 5  # uncounted first frames of each round, in which buffers grow and code is compiled
_BLOCK_SIDES = (8, 16)  # voxels per side of a block; Open3D's default is 16, ours 8
STAGES = ("geometry", "instances", "together", "peer_8", "peer_16")
_SHOWN = (
    "geometry_ms", "instances_ms", "both_ms", "together_ms", "peer_8_ms", "peer_16_ms", "ratio", "together_ratio",
)  # fmt: skip


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


def _cases(options: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    yield "simulator", options.rounds, options.world, options.seed, options.frames
    if options.data is not None or os.environ.get("LODESTAR_DATA"):
        yield "7scenes", options.rounds, data_folder(options.data, "rgbd_7scenes"), options.frames


def _measure(source: str, count: int, *of: Any) -> list[Row]:
    """Return medians over frames, then over rounds, ms; ratios are to the faster Open3D map of a round."""
    frames = _simulated(*of) if source == "simulator" else _recorded(*of)
    rounds = [_timed(frames) for _ in range(count + 1)][1:]  # the first round compiles, so it is dropped
    passed, processor = (
        [_round({stage: values[:, k] for stage, values in one.items()}) for one in rounds] for k in (0, 1)
    )
    found = {key: np.median([one[key] for one in passed]) for key in passed[0]}
    found["ratio_worst_round"] = max(one["ratio"] for one in passed)
    for key in ("ratio", "geometry_ratio"):
        found[f"{key}_of_processor_time"] = np.median([one[key] for one in processor])
    return [{"source": source, **found, "surface_gap_mm": _surface_gap(frames)}]


def _simulated(spec: str, seed: int, count: int) -> list[tuple[RgbdFrame, SegmentedFrame]]:
    from lodestar.assembly import parts
    from lodestar.assembly.config import PerceptionConfig
    from lodestar.perception.frames import RgbdFrame
    from lodestar_eval.settings import NOISES
    from lodestar_eval.tour import Tour, TourConfig
    from lodestar_sim.worlds import WorldError, world_from_spec

    try:
        world = world_from_spec(spec, seed)
    except WorldError as error:
        raise BadOptions(str(error)) from error
    detector = parts.ground_truth_detector(PerceptionConfig(noise=NOISES["mild"], seed=seed))
    pairs = []
    tour = Tour(world, seed, TourConfig(width=640, height=480))
    for image in (frame.image for _, frame in zip(range(count), tour.frames())):
        frame = RgbdFrame(image.stamp, image.camera, image.depth, image.odom_from_camera, image.map_from_odom)
        pairs.append((frame, detector.segment(image.stamp, image.labels, image.label_table)))
    return pairs


def _recorded(path: Path, count: int) -> list[tuple[RgbdFrame, SegmentedFrame]]:
    """Return recorded frames with class-agnostic segments; the segmentation time is not measured."""
    from lodestar.assembly import parts
    from lodestar_eval.recording_sources import open_recording
    from lodestar_eval.recordings import BadRecording

    try:
        recording = open_recording(path)
    except BadRecording as error:
        raise BadOptions(str(error)) from error
    segmenter = parts.geometric_segmenter()
    frames = [replace(frame, rgb=None) for _, frame in zip(range(count), recording.frames())]
    return [(frame, segmenter.segment(frame.stamp, frame.depth, frame.camera, None)) for frame in frames]


def _timed(frames: list[tuple[RgbdFrame, SegmentedFrame]]) -> dict[str, np.ndarray]:
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


def _named(rows: Rows) -> dict[str, float]:
    return {"{source}." + name: value for name, value in rows[0].items() if name != "source"}


BENCHMARK = Study(
    "integrate",
    "A frame into the voxel map: time against Open3D's geometry alone.",
    _add_options,
    _cases,
    _measure,
    numbers=(
        Whole(
            lambda rows: {"{source}." + name: value for name, value in rows[0].items() if name != "source"},
            ("source",),
        ),
        *(Number(f"_{name}", name, by=("source",), digits=2) for name in _SHOWN),
    ),
    bars=tuple(Limit(f"{name}.ratio", 3.0, False) for name in ("simulator", "7scenes")),
    notes=(
        "Geometry is `integrate_depth` (surfaces, and carving of instances), instances is `fuse` (association, "
        "votes, carving, extraction); `both` is one after the other on one thread, and what the bar is on; `on two "
        "threads` is another map that takes the same frames as the node does, depth beside segments. Open3D is "
        "`compute_unique_block_coordinates` and `integrate` of VoxelBlockGrid on the same depth, distance and "
        "weight only, its conversion of the image apart; the ratio takes the faster of two block sizes. "
        "`surface_gap_mm`: median from Open3D's surface points to our mesh.",
        "Without a recording (--data, or LODESTAR_DATA) only simulator frames are measured.",
    ),
    config={"threads": os.environ.get("OMP_NUM_THREADS", "all cores"), "voxel_m": 0.05, "truncation_m": 0.2},
)
