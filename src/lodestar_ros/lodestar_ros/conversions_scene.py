"""Conversion of segmented frames, instances and entities from and to messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from sensor_msgs.msg import Image

from lodestar.mapping.records import Absence, CaptionVote, Instance, InstanceDelta, Merge, Miss, Observation
from lodestar.perception.frames import Detection, SegmentedFrame
from lodestar.scene.records import Embedding, Entity, EntityState, SceneDelta, Stated, View
from lodestar.worldmodel.records import entity_name, entity_of
from lodestar_interfaces import msg
from lodestar_ros.conversions import (
    BadMessage,
    box_from_msg,
    box_to_msg,
    covariance_from_list,
    covariance_to_list,
    header,
    point_from_msg,
    point_to_msg,
    pose_from_msg,
    pose_to_msg,
    stamp_from_msg,
    stamp_to_msg,
    transform_from_msg,
    transform_to_msg,
)
from lodestar_ros.conversions_sensors import (
    image_from_msg,
    image_to_msg,
    vectors_from_msg,
    vectors_to_msg,
)

MAP = "map"


class _Rows:
    """Collects vectors as rows of one image."""

    def __init__(self) -> None:
        self.vectors: list[np.ndarray] = []

    def add(self, vector: np.ndarray | None) -> int:
        """Add a vector and return its row; -1 for None."""
        if vector is None:
            return -1
        self.vectors.append(vector)
        return len(self.vectors) - 1


def _feature(rows: np.ndarray, index: int) -> np.ndarray | None:
    return None if index < 0 else _row(rows, index)


def _row(rows: np.ndarray, index: int) -> np.ndarray:
    if index >= len(rows):
        raise BadMessage(f"vector row {index} does not exist; the message has {len(rows)} rows")
    return rows[index]


# --- perception ----------------------------------------------------------------------------------------


def segmented_to_msg(frame: SegmentedFrame, camera_frame: str) -> msg.SegmentedImage:
    rows = _Rows()
    message = msg.SegmentedImage(header=header(frame.stamp, camera_frame), detector=frame.detector)
    message.labels = image_to_msg(frame.labels, "mono16", frame.stamp, camera_frame)
    message.detections = [
        msg.Detection(
            label_value=int(detection.label_value),
            label=detection.label,
            caption=detection.caption,
            score=float(detection.score),
            image_box=box_to_msg(detection.box),
            pixel_count=int(detection.pixel_count),
            feature_row=rows.add(detection.feature),
        )
        for detection in frame.detections
    ]
    message.features = vectors_to_msg(rows.vectors)
    return message


def segmented_from_msg(message: msg.SegmentedImage) -> SegmentedFrame:
    """Raises BadMessage."""
    labels = image_from_msg(message.labels)
    if labels.ndim != 2 or labels.dtype != np.uint16:
        raise BadMessage(f"the label image is {message.labels.encoding}, expected mono16")
    rows = vectors_from_msg(message.features)
    detections = tuple(
        Detection(
            label_value=item.label_value,
            label=item.label,
            caption=item.caption,
            score=item.score,
            box=box_from_msg(item.image_box),
            pixel_count=item.pixel_count,
            feature=_feature(rows, item.feature_row),
        )
        for item in message.detections
    )
    return SegmentedFrame(stamp_from_msg(message.header.stamp), labels, detections, message.detector)


# --- instances -----------------------------------------------------------------------------------------


def instance_to_msg(instance: Instance) -> msg.Instance:
    return msg.Instance(
        id=instance.id,
        voxel_count=int(instance.voxel_count),
        centroid=point_to_msg(instance.centroid),
        covariance=covariance_to_list(instance.covariance),
        box_min=point_to_msg(instance.box_min),
        box_max=point_to_msg(instance.box_max),
        votes=[
            msg.CaptionVote(label=v.label, caption=v.caption, weight=float(v.weight)) for v in instance.votes
        ],
        occupancy_probability=float(instance.occupancy_probability),
        observation_count=int(instance.observation_count),
        confirmed=bool(instance.confirmed),
        first_seen=stamp_to_msg(instance.first_seen),
        last_seen=stamp_to_msg(instance.last_seen),
    )


def instance_from_msg(message: msg.Instance) -> Instance:
    return Instance(
        id=message.id,
        voxel_count=message.voxel_count,
        centroid=point_from_msg(message.centroid),
        covariance=covariance_from_list(message.covariance),
        box_min=point_from_msg(message.box_min),
        box_max=point_from_msg(message.box_max),
        votes=tuple(CaptionVote(v.label, v.caption, v.weight) for v in message.votes),
        occupancy_probability=message.occupancy_probability,
        observation_count=message.observation_count,
        confirmed=message.confirmed,
        first_seen=stamp_from_msg(message.first_seen),
        last_seen=stamp_from_msg(message.last_seen),
    )


def instances_to_msg(delta: InstanceDelta) -> msg.InstanceArray:
    rows = _Rows()
    message = msg.InstanceArray(
        header=header(delta.stamp, MAP),
        map_id=delta.map_id,
        session_id=delta.session_id,
        revision=delta.revision,
        previous_revision=delta.previous_revision,
        updated=[instance_to_msg(instance) for instance in delta.updated],
        observations=[
            msg.Observation(
                instance_id=item.instance_id,
                stamp=stamp_to_msg(item.stamp),
                camera_pose=pose_to_msg(item.odom_from_camera),
                image_box=box_to_msg(item.box),
                pixel_count=int(item.pixel_count),
                label=item.label,
                caption=item.caption,
                score=float(item.score),
                distance=float(item.distance),
                feature_row=rows.add(item.feature),
            )
            for item in delta.observations
        ],
        merges=_merges_to_msg(delta.merges),
        absences=[
            msg.Absence(
                instance_id=item.instance_id,
                stamp=stamp_to_msg(item.stamp),
                free_share=float(item.free_share),
            )
            for item in delta.absences
        ],
        misses=[
            msg.Miss(
                instance_id=item.instance_id,
                stamp=stamp_to_msg(item.stamp),
                clear_share=float(item.clear_share),
                pixels=int(item.pixels),
            )
            for item in delta.misses
        ],
        removed=list(delta.removed),
        map_from_odom=transform_to_msg(delta.map_from_odom),
    )
    message.features = vectors_to_msg(rows.vectors)
    return message


def instances_from_msg(message: msg.InstanceArray) -> InstanceDelta:
    """Raises BadMessage."""
    rows = vectors_from_msg(message.features)
    return InstanceDelta(
        stamp=stamp_from_msg(message.header.stamp),
        revision=message.revision,
        previous_revision=message.previous_revision,
        updated=tuple(instance_from_msg(item) for item in message.updated),
        observations=tuple(
            Observation(
                instance_id=item.instance_id,
                stamp=stamp_from_msg(item.stamp),
                odom_from_camera=pose_from_msg(item.camera_pose),
                box=box_from_msg(item.image_box),
                pixel_count=item.pixel_count,
                label=item.label,
                caption=item.caption,
                score=item.score,
                distance=item.distance,
                feature=_feature(rows, item.feature_row),
            )
            for item in message.observations
        ),
        merges=_merges_from_msg(message.merges),
        absences=tuple(
            Absence(item.instance_id, stamp_from_msg(item.stamp), item.free_share)
            for item in message.absences
        ),
        misses=tuple(
            Miss(item.instance_id, stamp_from_msg(item.stamp), item.clear_share, item.pixels)
            for item in message.misses
        ),
        removed=tuple(message.removed),
        map_from_odom=transform_from_msg(message.map_from_odom),
        map_id=message.map_id,
        session_id=message.session_id,
    )


def _merges_to_msg(merges: Any) -> list[msg.Merge]:
    return [msg.Merge(loser=merge.loser, winner=merge.winner) for merge in merges]


def _merges_from_msg(merges: Any) -> tuple[Merge, ...]:
    return tuple(Merge(merge.loser, merge.winner) for merge in merges)


# --- entities ------------------------------------------------------------------------------------------


def _weighted_to_msg(weights: dict[int, float]) -> list[msg.WeightedId]:
    return [msg.WeightedId(id=key, weight=float(weight)) for key, weight in weights.items()]


def entity_to_msg(entity: Entity, rows: _Rows | None = None) -> msg.Entity:
    """Return the message of an entity. Embeddings go into `rows`; without it the message has only their names."""
    return msg.Entity(
        id=entity.id,
        map_id=entity.map_id,
        session_id=entity.session_id,
        label=entity.label,
        caption=entity.caption,
        attributes=list(entity.attributes),
        mean=point_to_msg(entity.mean),
        covariance=covariance_to_list(entity.covariance),
        box_min=point_to_msg(entity.box_min),
        box_max=point_to_msg(entity.box_max),
        embeddings=[
            msg.EmbeddingChannel(
                name=name,
                model=embedding.model,
                dimension=len(embedding.vector),
                row=rows.add(embedding.vector) if rows is not None else -1,
            )
            for name, embedding in entity.embeddings.items()
        ],
        views=[
            msg.View(
                stamp=stamp_to_msg(view.stamp),
                camera_pose=pose_to_msg(view.map_from_camera),
                image_box=box_to_msg(view.box),
                keyframe_id=view.keyframe_id,
                quality=float(view.quality),
            )
            for view in entity.views
        ],
        region_id=entity.region_id,
        occupancy_probability=float(entity.occupancy_probability),
        confidence=float(entity.confidence),
        state=int(entity.state),
        is_static=bool(entity.is_static),
        observation_count=int(entity.observation_count),
        first_seen=stamp_to_msg(entity.first_seen),
        last_seen=stamp_to_msg(entity.last_seen),
        covisible=_weighted_to_msg(entity.covisible),
        neighbors=_weighted_to_msg(entity.neighbors),
        stated=[
            msg.Belief(
                predicate=said.predicate,
                arguments=[entity_name(entity.id), entity_name(said.other)],
                negated=said.negated,
            )
            for said in entity.stated
        ],
    )


def entity_from_msg(message: msg.Entity, rows: np.ndarray | None = None) -> Entity:
    """Raises BadMessage. Channels whose vector was not sent are left out."""
    try:
        state = EntityState(message.state)
    except ValueError as error:
        raise BadMessage(f"entity {message.id}: {error}") from error
    return Entity(
        id=message.id,
        map_id=message.map_id,
        session_id=message.session_id,
        label=message.label,
        caption=message.caption,
        attributes=tuple(message.attributes),
        mean=point_from_msg(message.mean),
        covariance=covariance_from_list(message.covariance),
        box_min=point_from_msg(message.box_min),
        box_max=point_from_msg(message.box_max),
        embeddings={
            channel.name: Embedding(channel.model, _row(rows, channel.row)[: channel.dimension])
            for channel in message.embeddings
            if rows is not None and channel.row >= 0
        },
        views=tuple(
            View(
                stamp_from_msg(view.stamp),
                pose_from_msg(view.camera_pose),
                box_from_msg(view.image_box),
                view.keyframe_id,
                view.quality,
            )
            for view in message.views
        ),
        region_id=message.region_id,
        occupancy_probability=message.occupancy_probability,
        confidence=message.confidence,
        state=state,
        is_static=message.is_static,
        observation_count=message.observation_count,
        first_seen=stamp_from_msg(message.first_seen),
        last_seen=stamp_from_msg(message.last_seen),
        covisible={item.id: item.weight for item in message.covisible},
        neighbors={item.id: item.weight for item in message.neighbors},
        stated=tuple(
            Stated(said.predicate, other, said.negated)
            for said in message.stated
            if len(said.arguments) == 2 and (other := entity_of(said.arguments[1])) is not None
        ),
    )


def scene_to_msg(delta: SceneDelta, vectors: bool = False) -> tuple[msg.SceneDelta, Image]:
    """Return the delta and its vectors as rows of an image (empty unless `vectors` is set)."""
    rows = _Rows() if vectors else None
    message = msg.SceneDelta(
        header=header(delta.stamp, MAP),
        map_id=delta.map_id,
        session_id=delta.session_id,
        revision=delta.revision,
        previous_revision=delta.previous_revision,
        updated=[entity_to_msg(entity, rows) for entity in delta.updated],
        merges=_merges_to_msg(delta.merges),
        removed=list(delta.removed),
    )
    return message, vectors_to_msg(rows.vectors if rows is not None else [])


def scene_from_msg(message: msg.SceneDelta, vectors: Image | None = None) -> SceneDelta:
    """Raises BadMessage."""
    rows = vectors_from_msg(vectors) if vectors is not None else None
    return SceneDelta(
        stamp=stamp_from_msg(message.header.stamp),
        revision=message.revision,
        previous_revision=message.previous_revision,
        updated=tuple(entity_from_msg(entity, rows) for entity in message.updated),
        merges=_merges_from_msg(message.merges),
        removed=tuple(message.removed),
        map_id=message.map_id,
        session_id=message.session_id,
    )
