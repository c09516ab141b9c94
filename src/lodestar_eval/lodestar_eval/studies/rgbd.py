"""Study: mapping of a real RGB-D recording with class-agnostic segments."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lodestar_eval.options import positive_int
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import Limit, Row, Study, Whole

_STAGES = ("segment", "geometry", "instances")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "recording",
        type=Path,
        help="folder of frame-NNNNNN.{color,depth,pose} files, or a rosbag2 or MCAP bag",
    )
    parser.add_argument("--frames", type=positive_int, default=None, help="at most (default all)")


def _measure(path: Path, limit: int | None, out: Path) -> Iterator[Row]:
    """Yield the metrics, then a row per confirmed instance and per reason for which frames were skipped."""
    from lodestar.assembly import parts
    from lodestar.mapping.semantic_voxels import FrameRejected
    from lodestar.mapping.voxels.colors import colors_of
    from lodestar.mapping.voxels.mesh import write_ply
    from lodestar_eval.recording_sources import open_recording
    from lodestar_eval.recordings import BadRecording

    try:
        recording = open_recording(path)
    except BadRecording as error:
        raise BadOptions(str(error)) from error
    segmenter, voxels = parts.geometric_segmenter(), parts.voxel_map()
    seconds: list[np.ndarray] = []  # processor seconds of each frame by stage, one thread
    for _, frame in zip(range(limit or sys.maxsize), recording.frames()):
        marks = [time.thread_time()]
        segmented = segmenter.segment(frame.stamp, frame.depth, frame.camera, frame.rgb)
        marks.append(time.thread_time())
        try:
            voxels.integrate_depth(frame)
            marks.append(time.thread_time())
            voxels.fuse(frame, segmented)
        except FrameRejected as rejected:
            recording.skipped[rejected.reason.name.lower()] += 1
            continue
        marks.append(time.thread_time())
        seconds.append(np.diff(marks))
    if not seconds:
        raise BadOptions(f"{path}: no frame could be used: {dict(recording.skipped)}")
    mesh = voxels.mesh()
    owners = voxels.instances_at(mesh.vertices)
    gray = (150 + 0.35 * mesh.colors.mean(1, keepdims=True)).astype(np.uint8).repeat(3, 1)
    by_instance = np.where((owners > 0)[:, None], colors_of(owners), gray)  # gray: of no instance
    write_ply(out / "instances.ply", mesh.vertices, by_instance, mesh.faces)
    write_ply(out / "colours.ply", mesh.vertices, mesh.colors, mesh.faces)
    warm = np.array(seconds[min(5, len(seconds) - 1) :])
    both = warm[:, 1] + warm[:, 2]
    known = [one for one in voxels.instances().values() if one.confirmed]
    metrics = {
        "frames": len(seconds), "frames_skipped": sum(recording.skipped.values()), "instances": len(known),
        "vertices": len(mesh.vertices),
        "share_of_surface_in_instances": (owners > 0).mean() if len(owners) else float("nan"),
        **{f"{stage}_ms": 1e3 * np.median(warm[:, k]) for k, stage in enumerate(_STAGES)},
        "map_p95_ms": 1e3 * np.percentile(both, 95), "map_rate_hz": 1.0 / np.median(both),
    }  # fmt: skip
    yield {"_metrics": metrics}
    for one in sorted(known, key=lambda one: -one.voxel_count):
        size = " x ".join(f"{side:.2f}" for side in one.box_max - one.box_min)
        row = {"instance": one.id, "caption": one.votes[0].caption, "voxels": one.voxel_count}
        yield row | {"observations": one.observation_count, "size_m": size}
    for reason, number in sorted(recording.skipped.items()):
        yield {"not_used": reason, "count": number}


BENCHMARK = Study(
    "rgbd",
    "A real RGB-D recording mapped without a detector: mesh and instances.",
    _add_options,
    lambda options: [(options.recording, options.frames, options.out)],
    _measure,
    numbers=(Whole(lambda rows: rows[0]["_metrics"]),),
    bars=(Limit("map_rate_hz", 15.0),),  # frames per second that the map must process (DESIGN section 6)
    columns=("instance", "caption", "voxels", "observations", "size_m", "not_used", "count"),
    notes=(
        "`instances.ply` and `colours.ply` are the mesh, coloured by instance and as seen, for any viewer. "
        "Times are those of one processor, medians over frames; the map's rate is that of geometry and instances.",
    ),
)
