"""Conversion of snapshots from and to messages."""

from __future__ import annotations

from lodestar.memory.records import Snapshot, SnapshotDelta
from lodestar_interfaces import msg
from lodestar_ros.conversions import BadMessage, header, stamp_from_msg

MAP = "map"


def snapshot_to_msg(snapshot: Snapshot) -> msg.Snapshot:
    return msg.Snapshot(
        id=snapshot.id,
        keyframe_id=snapshot.keyframe_id,
        entity_ids=sorted(snapshot.entity_ids),
        region_id=snapshot.region_id,
        caption=snapshot.caption,
    )


def snapshot_from_msg(message: msg.Snapshot) -> Snapshot:
    """Raises BadMessage for a snapshot without an image or without entities."""
    if message.keyframe_id == 0 or len(message.entity_ids) == 0:
        raise BadMessage(f"snapshot {message.id} names no keyframe or no entity")
    ids = frozenset(int(identity) for identity in message.entity_ids)
    return Snapshot(message.id, message.keyframe_id, ids, message.region_id, message.caption)


def snapshots_to_msg(delta: SnapshotDelta) -> msg.SnapshotArray:
    return msg.SnapshotArray(
        header=header(delta.stamp, MAP),
        revision=delta.revision,
        previous_revision=delta.previous_revision,
        updated=[snapshot_to_msg(snapshot) for snapshot in delta.updated],
        removed=list(delta.removed),
    )


def snapshots_from_msg(message: msg.SnapshotArray) -> SnapshotDelta:
    """Raises BadMessage."""
    if message.previous_revision > message.revision:
        raise BadMessage(f"revision {message.revision} comes before {message.previous_revision}")
    return SnapshotDelta(
        stamp_from_msg(message.header.stamp),
        message.revision,
        message.previous_revision,
        tuple(snapshot_from_msg(item) for item in message.updated),
        tuple(message.removed),
    )
