"""Tracks of movers on a topic."""

from __future__ import annotations

from lodestar.mapping.mover_tracks import MoverTrack
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions_scene import tracks_to_msg
from lodestar_ros.node import LodestarNode


class MoverPublisher:
    """Publishes those who are tracked now, and once when nobody is left."""

    def __init__(self, node: LodestarNode, topic: str) -> None:
        self._tracks = node.create_publisher(msg.MoverTracks, topic, qos.EVENT)
        self._showed = False  # somebody with the last message

    def publish(self, tracks: tuple[MoverTrack, ...], stamp: float) -> None:
        """Publish the tracks of a stamp, seconds."""
        if tracks or self._showed:
            self._tracks.publish(tracks_to_msg(tracks, stamp))
        self._showed = bool(tracks)
