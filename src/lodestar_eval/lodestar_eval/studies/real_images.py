"""Study: the robot's pipeline on real images: objects found, duplicated and false, against labels by a person."""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lodestar.assembly.parts import FETCHED_DETECTOR
from lodestar_eval.options import data_folder, positive_int
from lodestar_eval.registry import BadOptions
from lodestar_eval.study import Limit, Row, Study, Whole, titled_tables

if TYPE_CHECKING:
    from lodestar_eval.real_images.detecting import Sightings
    from lodestar_eval.real_images.labels import LabelledRoom
    from lodestar_eval.real_images.robot import RecordedRobot
    from lodestar_eval.recordings import Recording

_SEEN_FRAMES = 3  # least frames of an object that count as seen; as in `instance_truth`


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


def _cases(options: argparse.Namespace) -> list[tuple[Any, ...]]:
    networks = tuple(Path(name) for name in (options.model or FETCHED_DETECTOR).split(",") if name)
    return [
        (data_folder(options.data, "rgbd_7scenes"), options.labels, options.every, options.model, networks)
    ]


def _measure(
    path: Path, labels: Path | None, every: int, model: str, networks: tuple[Path, ...]
) -> Iterator[Row]:
    """Yield the rows of a recording. networks: files of the model, by which the case is told from others."""
    from lodestar.perception.frames import DetectorUnavailable
    from lodestar_eval.phrase_book import phrase_book
    from lodestar_eval.real_images.questions import ask_all
    from lodestar_eval.real_images.report import rows_of
    from lodestar_eval.real_images.robot import RecordedRobot, robot_config
    from lodestar_eval.real_images.scoring import score

    room, recording = open_labelled(path, labels)
    config, book = robot_config(model), phrase_book()
    with tempfile.TemporaryDirectory(prefix="real-images-") as place:
        robots = {name: RecordedRobot(config, book, Path(place) / name) for name in ("all", "odd", "even")}
        try:
            sightings = _walk(robots, room, recording, every)
        except DetectorUnavailable as error:
            raise BadOptions(str(error)) from error
        if not sightings.taken:
            lost = ", ".join(f"{reason}: {count}" for reason, count in recording.skipped.items())
            raise BadOptions(
                f"{recording.name}: none of its frames can be used ({lost or 'there are none'}): each needs depth, "
                "pose and a colour image of the size of its depth"
            )
        for robot in robots.values():
            robot.finish()
        scored = score(room, [frames >= _SEEN_FRAMES for frames in sightings.frames], robots["all"].entities)
        questions = ask_all(robots["all"], room, scored)
        halves = robots["odd"].entities, robots["even"].entities
        for robot in robots.values():
            robot.close()
    unused = Counter(recording.skipped) + Counter(robots["all"].rejected)
    yield from rows_of(unused, sightings, scored, halves, questions)


def open_labelled(path: Path, labels: Path | None) -> tuple[LabelledRoom, Recording]:
    """Return a room's labels, and its recording in their map frame. Raises BadOptions.

    labels: None = the labels that fit the recording.
    """
    from lodestar_eval.real_images.labels import BadLabels, known_rooms, read_room
    from lodestar_eval.recording_sources import open_recording
    from lodestar_eval.recordings import BadRecording

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
    from lodestar_eval.real_images.detecting import SEEN_PIXELS
    from lodestar_eval.real_images.labels import STEP, FramePoints
    from lodestar_eval.recording_sources import open_recording

    recording = open_recording(path, room.map_from_recording)
    step, seen = max(len(recording) // 40, 1), np.zeros(len(room.things), bool)
    for number, frame in enumerate(recording.frames()):
        if number % step == 0:
            points = FramePoints(frame)
            seen |= [len(points.of(thing)) * STEP**2 >= SEEN_PIXELS for thing in room.things]
    return bool(seen.mean() > 0.5)


def _walk(
    robots: dict[str, RecordedRobot], room: LabelledRoom, recording: Recording, every: int
) -> Sightings:
    """Give each frame to robot "all" and, in turn, to "odd" or "even"; return the sightings."""
    from lodestar.assembly import parts
    from lodestar.perception.frames import AlignedDepth
    from lodestar_eval.real_images.detecting import Sightings

    detector, sightings = parts.color_detector(robots["all"].config.perception), Sightings(room)
    for number, frame in enumerate(recording.frames()):
        if number % every or frame.rgb is None:
            continue
        segmented = detector.detect(frame.stamp, frame.rgb, AlignedDepth(frame.depth, frame.camera))
        for name in ("all", "even" if sightings.taken % 2 else "odd"):
            robots[name].take(frame, segmented)
        sightings.add(frame, segmented)
    return sightings


BENCHMARK = Study(
    "real-images",
    "Recorded real images through the robot's own chain: things found, doubled, false, and the error of place.",
    _add_options,
    _cases,
    _measure,
    numbers=(Whole(lambda rows: rows[0]["_metrics"]),),
    bars=(  # of the issue
        Limit("found", 0.8, name="labelled things found, share"),
        Limit("false_or_doubled", 2, False, "entities false or doubled"),
        Limit("place_error_m", 0.25, False, "error of place, mean of the things found, m"),
    ),
    tables=titled_tables,
    notes=(
        "An entity is a labelled thing where both are of one kind and its middle lies within 0.25 m of the labelled "
        "box; they are paired one to one. `place_error_m` is the mean over the things found of the distance between "
        "the two middles, and what the bar is on; `place_gap_m` that of the entity's middle from the box. Further "
        "entities of a thing are doubled; those where nothing of their kind was labelled are false.",
        "Counted are the things that at least 3 frames show by 200 pixels of depth or more. Not counted are entities "
        "at things that the labels call unsure, and those more than 0.5 m outside of all labels. `recall_per_frame` "
        "is the share of the frames that show a thing in which a detection of its kind has its box (IoU 0.25).",
        "`consistent`: share of the entities of two maps, one of the odd and one of the even frames, that have a twin "
        "of their kind in the other within 0.5 m; `consistent_distance_m` between their middles.",
    ),
)
