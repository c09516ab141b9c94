"""Benchmark: the robot's pipeline on real images: objects found, duplicated and false, against labels by a person."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lodestar_eval.options import data_folder, positive_int
from lodestar_eval.registry import BadOptions, Benchmark, Result

if TYPE_CHECKING:
    from lodestar_eval.real_images.labels import LabelledRoom
    from lodestar_eval.real_images.report import Sightings
    from lodestar_eval.real_images.robot import RecordedRobot
    from lodestar_eval.recordings import Recording

# least pixels and frames of an object that count as seen; as in `instance_truth`
_SEEN_PIXELS, _SEEN_FRAMES = 200, 3


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        default=None,
        help="folder of frame-NNNNNN.{color,depth,pose} files (default: rgbd_7scenes in $LODESTAR_DATA)",
    )
    parser.add_argument(
        "--labels",
        type=Path,
        default=None,
        metavar="FILE",
        help="things of the room (default: labels.json in the folder, else the known room that the frames show)",
    )
    parser.add_argument(
        "--every", type=positive_int, default=1, metavar="N", help="use each Nth frame (default 1)"
    )
    parser.add_argument(
        "--model", default="", metavar="FILE", help="network (default: that of `make detector`)"
    )


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    from lodestar.perception.frames import DetectorUnavailable
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.real_images.questions import ask_all
    from lodestar_eval.real_images.report import result_of
    from lodestar_eval.real_images.robot import RecordedRobot, robot_config
    from lodestar_eval.real_images.scoring import score

    room, recording = open_labelled(options.data, options.labels)
    config, book = robot_config(options.model), phrase_book()
    with tempfile.TemporaryDirectory(prefix="real-images-") as place:
        robots = {name: RecordedRobot(config, book, Path(place) / name) for name in ("all", "odd", "even")}
        try:
            sightings, taken = _walk(robots, room, recording, options.every, progress)
        except DetectorUnavailable as error:
            raise BadOptions(str(error)) from error
        if not taken:
            lost = ", ".join(f"{reason}: {count}" for reason, count in recording.skipped.items())
            raise BadOptions(
                f"{recording.name}: none of its frames can be used ({lost or 'there are none'}): each needs depth, "
                "pose and a colour image of the size of its depth"
            )
        for robot in robots.values():
            robot.finish()
        in_view = [frames >= _SEEN_FRAMES for frames in sightings.frames]
        scored = score(room, in_view, robots["all"].entities)
        questions = ask_all(robots["all"], room, scored)
        halves = robots["odd"].entities, robots["even"].entities
        for robot in robots.values():
            robot.close()
    unused = Counter(recording.skipped) + Counter(robots["all"].rejected)
    return result_of(room, taken, unused, sightings, scored, halves, questions)


def open_labelled(path: Path | None, labels: Path | None) -> tuple[LabelledRoom, Recording]:
    """Return a room's labels, and its recording in their map frame. Raises BadOptions.

    path: None = the default recording. labels: None = the labels that fit the recording.
    """
    from lodestar_eval.real_images.labels import BadLabels, known_rooms, read_room
    from lodestar_eval.recording_sources import open_recording
    from lodestar_eval.recordings import BadRecording

    path = data_folder(path, "rgbd_7scenes")
    try:
        open_recording(path)
        rooms = known_rooms()
        file: Path | None
        if labels is not None:
            file = labels
        elif (path / "labels.json").is_file():
            file = path / "labels.json"
        elif path.resolve().name in rooms:
            file = rooms[path.resolve().name]
        else:
            file = next((f for f in rooms.values() if _shows(path, read_room(f))), None)
        if file is None:
            raise BadOptions(
                f"no labels are known for {path}, and it shows none of {', '.join(rooms)}: give --labels"
            )
        room = read_room(file)
        return room, open_recording(path, room.map_from_recording)
    except (BadRecording, BadLabels) as error:
        raise BadOptions(str(error)) from error


def _shows(path: Path, room: LabelledRoom) -> bool:
    """Return whether the frames in a folder show most of the labelled objects of a room."""
    from lodestar_eval.real_images.labels import STEP, FramePoints
    from lodestar_eval.recording_sources import open_recording

    recording = open_recording(path, room.map_from_recording)
    step, seen = max(len(recording) // 40, 1), np.zeros(len(room.things), bool)
    for number, frame in enumerate(recording.frames()):
        if number % step == 0:
            points = FramePoints(frame)
            seen |= [len(points.of(thing)) * STEP**2 >= _SEEN_PIXELS for thing in room.things]
    return bool(seen.mean() > 0.5)


def _walk(
    robots: dict[str, RecordedRobot],
    room: LabelledRoom,
    recording: Recording,
    every: int,
    progress: Callable[[str], None],
) -> tuple[Sightings, int]:
    """Give each frame to robot "all" and, in turn, to "odd" or "even"; return sightings and frame count."""
    from lodestar_eval.real_images.detecting import RoomDetector, hits_of
    from lodestar_eval.real_images.labels import FramePoints
    from lodestar_eval.real_images.report import Sightings

    detector = RoomDetector(robots["all"].config.perception)
    sightings = Sightings([0] * len(room.things), [0] * len(room.things))
    taken = 0
    for number, frame in enumerate(recording.frames()):
        if number % every or frame.rgb is None:
            continue
        segmented = detector.detect(frame)
        for name in ("all", "even" if taken % 2 else "odd"):
            robots[name].take(frame, segmented)
        taken += 1
        points = FramePoints(frame)
        for index, (pixels, hit) in enumerate(hits_of(segmented, points, room.things)):
            sightings.frames[index] += pixels >= _SEEN_PIXELS
            sightings.hits[index] += pixels >= _SEEN_PIXELS and hit
        for detection in segmented.detections:
            label = detection.label
            sightings.detections[label] = sightings.detections.get(label, 0) + 1
        if taken % 25 == 0:
            progress(
                f"{taken} of {-(-len(recording) // every)} frames, {len(robots['all'].entities)} entities"
            )
    return sightings, taken


BENCHMARK = Benchmark(
    "real-images",
    "Recorded real images through the robot's own chain: things found, doubled, false, and the error of place.",
    _add_options,
    _run,
)
