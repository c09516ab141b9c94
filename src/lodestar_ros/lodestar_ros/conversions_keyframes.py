"""Conversion of keyframes from and to messages."""

from __future__ import annotations

from lodestar.keyframes.records import Keyframe
from lodestar_interfaces import msg
from lodestar_ros.conversions import (
    box_from_msg,
    box_to_msg,
    header,
    pose_from_msg,
    pose_to_msg,
    stamp_from_msg,
)
from lodestar_ros.conversions_scene import MAP
from lodestar_ros.conversions_sensors import camera_from_msg, camera_to_msg


def keyframe_to_msg(keyframe: Keyframe) -> msg.Keyframe:
    return msg.Keyframe(
        header=header(keyframe.stamp, MAP),
        id=keyframe.id,
        map_id=keyframe.map_id,
        session_id=keyframe.session_id,
        camera_pose=pose_to_msg(keyframe.map_from_camera),
        camera=camera_to_msg(keyframe.camera, keyframe.stamp),
        instances=[
            msg.KeyframeInstance(instance_id=key, image_box=box_to_msg(box))
            for key, box in keyframe.instances.items()
        ],
    )


def keyframe_from_msg(message: msg.Keyframe) -> Keyframe:
    """Raises BadMessage."""
    return Keyframe(
        id=message.id,
        stamp=stamp_from_msg(message.header.stamp),
        map_from_camera=pose_from_msg(message.camera_pose),
        camera=camera_from_msg(message.camera),
        instances={item.instance_id: box_from_msg(item.image_box) for item in message.instances},
        map_id=message.map_id,
        session_id=message.session_id,
    )
