"""Conversion of segmented frames, instances, entities, keyframes and snapshots to and from messages.

Vectors are sent as rows of one image beside the records; a record holds its row number. The context of these codecs
is the rows: a list that collects them for writing, or the (N, D) array for reading.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sensor_msgs.msg import Image

from lodestar.keyframes.records import Keyframe
from lodestar.mapping.instances.records import (
    Absence,
    CaptionVote,
    Instance,
    InstanceDelta,
    Merge,
    Miss,
    Observation,
)
from lodestar.mapping.movers.mover_tracks import MoverTrack
from lodestar.memory.records import Snapshot, SnapshotDelta
from lodestar.perception.frames import CameraLook, Detection, SegmentedFrame
from lodestar.perception.signs import SignReading, SignSight
from lodestar.scene.records import Embedding, Entity, SceneDelta, Stated, View
from lodestar.worldmodel.records import entity_name, entity_of
from lodestar_interfaces import msg
from lodestar_ros.codec import BadMessage, codec
from lodestar_ros.conversions import box_from_msg, box_to_msg, header, stamp_from_msg
from lodestar_ros.conversions_sensors import (
    camera_to_msg,
    image_from_msg,
    image_to_msg,
    vectors_from_msg,
    vectors_to_msg,
)


def _add_row(rows: list[np.ndarray] | None, vector: np.ndarray | None) -> int:
    """Add a vector and return its row; -1 for None."""
    if vector is None or rows is None:
        return -1
    rows.append(vector)
    return len(rows) - 1


def _row(rows: np.ndarray, index: int) -> np.ndarray:
    if index >= len(rows):
        raise BadMessage(f"vector row {index} does not exist; the message has {len(rows)} rows")
    return rows[index]


_FEATURE: dict[str, Any] = {
    "to": {"feature_row": lambda record, rows: _add_row(rows, record.feature)},
    "of": {
        "feature": lambda message, rows: None if message.feature_row < 0 else _row(rows, message.feature_row)
    },
}


def _with_rows(message: Any, rows: list[np.ndarray]) -> Any:
    message.features = vectors_to_msg(rows)
    return message


# --- perception and instances ----------------------------------------------------------------------------

detection_to_msg, detection_from_msg = codec(Detection, msg.Detection, names={"box": "image_box"}, **_FEATURE)


def segmented_to_msg(frame: SegmentedFrame, camera_frame: str) -> msg.SegmentedImage:
    rows: list[np.ndarray] = []
    message = msg.SegmentedImage(
        header=header(frame.stamp, camera_frame),
        detector=frame.detector,
        labels=image_to_msg(frame.labels, "mono16", frame.stamp, camera_frame),
        detections=[detection_to_msg(detection, rows) for detection in frame.detections],
    )
    return _with_rows(message, rows)


def segmented_from_msg(message: msg.SegmentedImage) -> SegmentedFrame:
    """Return the segmented frame. Raises BadMessage."""
    labels = image_from_msg(message.labels)
    if labels.ndim != 2 or labels.dtype != np.uint16:
        raise BadMessage(f"the label image is {message.labels.encoding}, expected mono16")
    rows = vectors_from_msg(message.features)
    detections = tuple(detection_from_msg(item, rows) for item in message.detections)
    return SegmentedFrame(stamp_from_msg(message.header.stamp), labels, detections, message.detector)


_track_to_msg, _track_from_msg = codec(
    MoverTrack,
    msg.MoverTrack,
    to={"velocity": lambda track, _: [float(value) for value in track.velocity]},
    of={"velocity": lambda message, _: np.array(message.velocity, np.float64)},
)


def tracks_to_msg(tracks: tuple[MoverTrack, ...], stamp: float) -> msg.MoverTracks:
    return msg.MoverTracks(header=header(stamp, "map"), tracks=[_track_to_msg(track) for track in tracks])


def tracks_from_msg(message: msg.MoverTracks) -> tuple[MoverTrack, ...]:
    """Return the mover tracks. Raises BadMessage."""
    return tuple(_track_from_msg(track) for track in message.tracks)


codec(SignSight, msg.SignSight)
reading_to_msg, reading_from_msg = codec(SignReading, msg.SignReading)
codec(Merge, msg.Merge)
codec(Absence, msg.Absence)
codec(Miss, msg.Miss)
codec(CaptionVote, msg.CaptionVote)
codec(Observation, msg.Observation, names={"odom_from_camera": "camera_pose", "box": "image_box"}, **_FEATURE)
codec(Instance, msg.Instance)
_delta_to_msg, _delta_from_msg = codec(InstanceDelta, msg.InstanceArray, alone=("features",))


def instances_to_msg(delta: InstanceDelta) -> msg.InstanceArray:
    rows: list[np.ndarray] = []
    return _with_rows(_delta_to_msg(delta, rows), rows)


def instances_from_msg(message: msg.InstanceArray) -> InstanceDelta:
    """Return the instance delta. Raises BadMessage."""
    return _delta_from_msg(message, vectors_from_msg(message.features))


# --- entities --------------------------------------------------------------------------------------------


def _channels(entity: Entity, rows: list[np.ndarray] | None) -> list[msg.EmbeddingChannel]:
    return [
        msg.EmbeddingChannel(
            name=name, model=one.model, dimension=len(one.vector), row=_add_row(rows, one.vector)
        )
        for name, one in entity.embeddings.items()
    ]


def _embeddings(message: msg.Entity, rows: np.ndarray | None) -> dict[str, Embedding]:
    return {
        channel.name: Embedding(channel.model, _row(rows, channel.row)[: channel.dimension])
        for channel in message.embeddings
        if rows is not None and channel.row >= 0
    }


def _beliefs(entity: Entity, _: Any) -> list[msg.Belief]:
    return [
        msg.Belief(
            predicate=said.predicate,
            arguments=[entity_name(entity.id), entity_name(said.other)],
            negated=said.negated,
        )
        for said in entity.stated
    ]


def _stated(message: msg.Entity, _: Any) -> tuple[Stated, ...]:
    """Return the stated relations to other entities; relations that name no entity are left out."""
    said = (
        (belief, entity_of(belief.arguments[-1])) for belief in message.stated if len(belief.arguments) == 2
    )
    return tuple(
        Stated(belief.predicate, other, belief.negated) for belief, other in said if other is not None
    )


codec(View, msg.View, names={"map_from_camera": "camera_pose", "box": "image_box"})
#: Without rows, a message holds only the channel names of the embeddings; a channel without a vector is left out.
entity_to_msg, entity_from_msg = codec(
    Entity,
    msg.Entity,
    to={"embeddings": _channels, "stated": _beliefs},
    of={"embeddings": _embeddings, "stated": _stated},
    alone=("front", "color"),
)
_scene_to_msg, _scene_from_msg = codec(SceneDelta, msg.SceneDelta)


def scene_to_msg(delta: SceneDelta, vectors: bool = False) -> tuple[msg.SceneDelta, Image]:
    """Return the delta and its vectors as rows of an image (empty unless `vectors` is set)."""
    rows: list[np.ndarray] | None = [] if vectors else None
    return _scene_to_msg(delta, rows), vectors_to_msg(rows or [])


def scene_from_msg(message: msg.SceneDelta, vectors: Image | None = None) -> SceneDelta:
    """Return the scene delta. vectors: image with the embeddings as rows. Raises BadMessage."""
    return _scene_from_msg(message, vectors_from_msg(vectors) if vectors is not None else None)


# --- keyframes and snapshots -----------------------------------------------------------------------------

look_to_msg, look_from_msg = codec(CameraLook, msg.Look, names={"map_from_camera": "camera_pose"})

keyframe_to_msg, keyframe_from_msg = codec(
    Keyframe,
    msg.Keyframe,
    names={"map_from_camera": "camera_pose"},
    to={
        "camera": lambda keyframe, _: camera_to_msg(keyframe.camera, keyframe.stamp),
        "instances": lambda keyframe, _: [
            msg.KeyframeInstance(instance_id=key, image_box=box_to_msg(box))
            for key, box in keyframe.instances.items()
        ],
    },
    of={
        "instances": lambda message, _: {
            item.instance_id: box_from_msg(item.image_box) for item in message.instances
        }
    },
)


def _ids_of_snapshot(message: msg.Snapshot, _: Any) -> frozenset[int]:
    if message.keyframe_id == 0 or len(message.entity_ids) == 0:
        raise BadMessage(f"snapshot {message.id} names no keyframe or no entity")
    return frozenset(message.entity_ids)


def _revision_before(message: msg.SnapshotArray, _: Any) -> int:
    if message.previous_revision > message.revision:
        raise BadMessage(f"revision {message.revision} comes before {message.previous_revision}")
    return message.previous_revision


snapshot_to_msg, snapshot_from_msg = codec(Snapshot, msg.Snapshot, of={"entity_ids": _ids_of_snapshot})
snapshots_to_msg, snapshots_from_msg = codec(
    SnapshotDelta, msg.SnapshotArray, of={"previous_revision": _revision_before}
)
