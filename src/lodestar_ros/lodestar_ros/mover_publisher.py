"""Publisher of the tracks of movers."""

from __future__ import annotations

from lodestar.mapping.movers.mover_tracks import MoverTrack
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions_scene import tracks_to_msg
from lodestar_ros.node import LodestarNode


class MoverPublisher:
    """Publishes the current tracks, and one empty message after the last track has ended."""

    def __init__(self, node: LodestarNode, topic: str) -> None:
        self._tracks = node.create_publisher(msg.MoverTracks, topic, qos.EVENT)
        self._showed = False  # whether the last message had tracks

    def publish(self, tracks: tuple[MoverTrack, ...], stamp: float) -> None:
        """Publish the tracks at a stamp, seconds."""
        if tracks or self._showed:
            self._tracks.publish(tracks_to_msg(tracks, stamp))
        self._showed = bool(tracks)
