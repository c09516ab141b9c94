"""Conversion of the memory's answers, and of the places where objects were last seen, to and from messages.

A place is an `Entity` with the box, the texts and the time of the last observation, and one view: the pose of
the robot.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose, PoseStamped

from lodestar.geometry.poses import planar_transform
from lodestar.language.question import AnswerType, Question
from lodestar.memory.answer import Answer, AnswerCode, AnswerOutcome, AnswerPlace, AnswerValue, Proof
from lodestar.memory.last_seen import LastSeen, RememberedPlaces
from lodestar.memory.records import MapName, Primitive
from lodestar.scene.captions import clean_text
from lodestar_interfaces import action, msg
from lodestar_ros.codec import BadMessage, codec, convert_values
from lodestar_ros.conversions import (
    header,
    planar_to_stamped,
    planar_tuple,
    point_from_msg,
    point_to_msg,
    pose_to_msg,
    stamp_from_msg,
    stamp_to_msg,
)
from lodestar_ros.conversions_language import question_from_msg, question_to_msg

MOST_PLACES = 2000  # most places that are read from a message; more than the memory publishes by default

# --- answers -----------------------------------------------------------------------------------------------

convert_values(
    "position",
    "geometry_msgs/Pose",
    lambda position: Pose(position=point_to_msg(position)),
    lambda pose: point_from_msg(pose.position),
)
proof_to_msg, proof_from_msg = codec(Proof, msg.Evidence, names={"session": "session_id", "position": "pose"})


def _viewpoints(answer: Answer, stamp: float) -> list[PoseStamped]:
    poses = [place.viewpoint for place in answer.value.places]
    return [PoseStamped() if pose is None else planar_to_stamped(pose, stamp or 0.0) for pose in poses]


def _question(result: action.AnswerQuestion.Result, _: Any) -> Question:
    ways = len(result.viewpoints)
    if not result.understood or len(result.times) % 2 or ways not in (0, len(result.places)):
        raise BadMessage(
            "an answer needs what was understood, pairs of times, and a viewpoint for each place"
        )
    return question_from_msg(result.understood[0])


def _value(result: action.AnswerQuestion.Result, _: Any) -> AnswerValue:
    """Return the value of an answer; a yes or no with confidence 0 is unknown."""
    kind = AnswerType(result.answer_type)
    known = kind is AnswerType.YES_NO and result.confidence > 0.0
    times = [stamp_from_msg(stamp) for stamp in result.times]
    ways = [planar_tuple(one.pose) if one.header.frame_id else None for one in result.viewpoints]
    centres = [point_from_msg(place.pose.position) for place in result.places]
    return AnswerValue(
        kind,
        tuple(map(AnswerPlace, centres, ways or [None] * len(centres))),
        tuple(zip(times[::2], times[1::2])),
        None if math.isnan(result.number) else result.number,
        result.yes if known else None,
        tuple(result.names),
    )


#: Converts answers without an error. The codec's context is the stamp of the places, seconds; None = 0.
answer_to_result, answer_from_result = codec(
    Answer,
    action.AnswerQuestion.Result,
    names={"sentence": "answer", "proof": "evidence"},
    to={
        "understood": lambda answer, _: [question_to_msg(answer.question)],
        "answer_type": lambda answer, _: int(answer.value.type),
        "places": lambda answer, stamp: [
            PoseStamped(header=header(stamp or 0.0), pose=Pose(position=point_to_msg(place.centre)))
            for place in answer.value.places
        ],
        "viewpoints": _viewpoints,
        "times": lambda answer, _: [stamp_to_msg(s) for span in answer.value.times for s in span],
        "number": lambda answer, _: math.nan if answer.value.number is None else float(answer.value.number),
        "yes": lambda answer, _: bool(answer.value.yes),
        "names": lambda answer, _: [name for name in answer.value.names if name],
    },
    of={"question": _question, "value": _value},
    alone=("error_code", "error_msg"),
)


def outcome_to_result(outcome: AnswerOutcome) -> action.AnswerQuestion.Result:
    """Return the action result of a question, with or without an answer."""
    if outcome.answer is None:
        result = action.AnswerQuestion.Result(answer=outcome.why, number=math.nan, coverage=math.nan)
    else:
        result = answer_to_result(outcome.answer, outcome.stamp)
    result.error_code, result.error_msg = int(outcome.code), outcome.why
    return result


def outcome_from_result(result: action.AnswerQuestion.Result, stamp: float = 0.0) -> AnswerOutcome:
    """Return the outcome of a question. stamp: time at which it ended, seconds. Raises BadMessage."""
    try:
        code = AnswerCode(result.error_code)
    except ValueError as error:
        raise BadMessage(str(error)) from error
    answer = answer_from_result(result) if result.understood else None
    if code is AnswerCode.NONE and answer is None:
        raise BadMessage("an answer without an error needs what was understood")
    return AnswerOutcome(code, answer, result.error_msg, stamp)


# --- last-seen places --------------------------------------------------------------------------------------


def last_seen_to_msg(remembered: RememberedPlaces, stamp: float) -> msg.SceneDelta:
    """Return all places as a delta that replaces all earlier places. A zero stamp = time unknown."""
    return msg.SceneDelta(
        header=header(stamp),
        map_id=remembered.map.map_id,
        session_id=remembered.map.fingerprint,
        revision=remembered.revision,
        previous_revision=0,
        updated=[_place_to_msg(place, remembered.map) for place in remembered.places],
    )


def last_seen_from_msg(message: msg.SceneDelta) -> RememberedPlaces:
    """Return the places with a valid box. Raises BadMessage for a delta that does not contain all places."""
    if message.previous_revision != 0:
        raise BadMessage("last-seen places come all at once; previous_revision must be 0")
    name = MapName(message.map_id, message.session_id)
    found = (_place_from_msg(entity) for entity in message.updated[:MOST_PLACES])
    return RememberedPlaces(name, message.revision, tuple(place for place in found if place is not None))


def _place_to_msg(place: LastSeen, name: MapName) -> msg.Entity:
    low, high = place.box
    stood = planar_transform(float(place.eye[0]), float(place.eye[1]), 0.0, float(place.eye[2]))
    seen = stamp_to_msg(place.stamp or 0.0)
    return msg.Entity(
        id=place.id,
        map_id=name.map_id,
        session_id=name.fingerprint,
        label=place.thing.label,
        caption=place.thing.caption,
        mean=point_to_msg(place.thing.centre),
        box_min=point_to_msg(low),
        box_max=point_to_msg(high),
        views=[msg.View(stamp=seen, camera_pose=pose_to_msg(stood))],
        last_seen=seen,
    )


def _place_from_msg(message: msg.Entity) -> LastSeen | None:
    low, high = point_from_msg(message.box_min), point_from_msg(message.box_max)
    eye = point_from_msg(message.views[0].camera_pose.position) if message.views else (low + high) / 2.0
    if not np.isfinite([low, high, eye]).all() or (high < low).any():
        return None
    label, caption = clean_text(message.label), clean_text(message.caption)
    thing = Primitive(0, label, (low + high) / 2.0, high - low, caption)
    return LastSeen(message.id, thing, stamp_from_msg(message.last_seen) or None, eye)
