"""Benchmark: mapping of a real RGB-D recording with class-agnostic segments."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.options import positive_int
from lodestar_eval.registry import BadOptions, Bar, Benchmark, Result, Table

if TYPE_CHECKING:
    from lodestar.mapping.semantic_voxels import SemanticVoxelMap
    from lodestar_eval.recordings import Recording

_RATE_BOUND = 15.0  # bar: frames per second that the map must process (DESIGN section 6)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "recording",
        type=Path,
        help="folder of frame-NNNNNN.{color,depth,pose} files, or a rosbag2 or MCAP bag",
    )
    parser.add_argument("--frames", type=positive_int, default=None, help="at most (default all)")


@dataclass
class _Mapped:
    """Result of mapping a recording. seconds: stage -> processor seconds of each frame (one thread)."""

    voxels: SemanticVoxelMap
    seconds: dict[str, list[float]] = field(
        default_factory=lambda: {"segment": [], "geometry": [], "instances": []}
    )
    taken: int = 0


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar_eval.recording_sources import open_recording
    from lodestar_eval.recordings import BadRecording

    try:
        recording = open_recording(options.recording)
    except BadRecording as error:
        raise BadOptions(str(error)) from error
    mapped = _map(recording, options.frames, progress)
    if mapped.taken == 0:
        raise BadOptions(f"{options.recording}: no frame could be used: {dict(recording.skipped)}")
    return _result(recording, mapped, folder)


def _map(recording: Recording, limit: int | None, progress: Callable[[str], None]) -> _Mapped:
    from lodestar.assembly import parts
    from lodestar.mapping.semantic_voxels import FrameRejected

    segmenter = parts.geometric_segmenter()
    mapped = _Mapped(parts.voxel_map())
    for number, frame in enumerate(recording.frames(), 1):
        if limit is not None and number > limit:
            break
        marks = [time.thread_time()]
        segmented = segmenter.segment(frame.stamp, frame.depth, frame.camera, frame.rgb)
        marks.append(time.thread_time())
        try:
            mapped.voxels.integrate_depth(frame)
            marks.append(time.thread_time())
            mapped.voxels.fuse(frame, segmented)
        except FrameRejected as rejected:
            recording.skipped[rejected.reason.name.lower()] += 1
            continue
        marks.append(time.thread_time())
        for stage, seconds in zip(mapped.seconds, np.diff(marks)):
            mapped.seconds[stage].append(float(seconds))
        mapped.taken += 1
        if number % 25 == 0:
            progress(f"{number}/{len(recording)} frames, {_confirmed(mapped.voxels)} instances")
    return mapped


def _confirmed(voxels: SemanticVoxelMap) -> int:
    return sum(instance.confirmed for instance in voxels.instances().values())


def _result(recording: Recording, mapped: _Mapped, folder: Path) -> Result:
    from lodestar.mapping.voxels.colors import colors_of
    from lodestar.mapping.voxels.mesh import write_ply

    mesh = mapped.voxels.mesh()
    owners = mapped.voxels.instances_at(mesh.vertices)
    gray = (150 + 0.35 * mesh.colors.mean(1, keepdims=True)).astype(np.uint8).repeat(3, 1)
    by_instance = np.where((owners > 0)[:, None], colors_of(owners), gray)  # gray: of no instance
    write_ply(folder / "instances.ply", mesh.vertices, by_instance, mesh.faces)
    write_ply(folder / "colours.ply", mesh.vertices, mesh.colors, mesh.faces)
    warm = {stage: np.array(values[min(5, len(values) - 1) :]) for stage, values in mapped.seconds.items()}
    both = warm["geometry"] + warm["instances"]
    skipped = sum(recording.skipped.values())
    metrics = {
        "frames": float(mapped.taken),
        "frames_skipped": float(skipped),
        "instances": float(_confirmed(mapped.voxels)),
        "vertices": float(len(mesh.vertices)),
        "share_of_surface_in_instances": float((owners > 0).mean()) if len(owners) else float("nan"),
        **{f"{stage}_ms": 1e3 * float(np.median(values)) for stage, values in warm.items()},
        "map_p95_ms": 1e3 * float(np.percentile(both, 95)),
        "map_rate_hz": 1.0 / float(np.median(both)),
    }
    return Result(
        metrics,
        bars=(Bar("map_rate_hz", metrics["map_rate_hz"], _RATE_BOUND),),
        tables=_tables(recording, mapped),
        notes=(
            "`instances.ply` and `colours.ply` are the mesh, coloured by instance and as seen, for any viewer. "
            "Times are those of one processor, medians over frames; the map's rate is that of geometry and instances.",
        ),
    )


def _tables(recording: Recording, mapped: _Mapped) -> tuple[Table, ...]:
    known = sorted(mapped.voxels.instances().values(), key=lambda one: -one.voxel_count)
    rows = tuple(
        (str(one.id), one.votes[0].caption, str(one.voxel_count), str(one.observation_count), _size(one))
        for one in known
        if one.confirmed
    )
    instances = Table("Instances", ("id", "caption", "voxels", "observations", "size, m"), rows)
    if not recording.skipped:
        return (instances,)
    lost = tuple((reason, str(count)) for reason, count in sorted(recording.skipped.items()))
    return (instances, Table("Files and frames that could not be used", ("what", "count"), lost))


def _size(instance: object) -> str:
    extent = instance.box_max - instance.box_min  # type: ignore[attr-defined]
    return " x ".join(f"{side:.2f}" for side in extent)


BENCHMARK = Benchmark(
    "rgbd",
    "A real RGB-D recording mapped without a detector: mesh and instances.",
    _add_options,
    _run,
)
