"""Test that people tracked by the voxel map add cost to Nav2's mask, and that the cost disappears again."""

from __future__ import annotations

import numpy as np
import pytest
from nav_msgs.msg import OccupancyGrid

from integration.fakes import FakeRobot
from lodestar.grid.occupancy import COMFORT, HELD_BACK
from lodestar.mapping.movers.mover_tracks import FIRST_TRACK, MoverTrack
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import grid_from_msg
from lodestar_ros.conversions_scene import tracks_to_msg

MASK = "scene_dictionary/keep_out_mask"


@pytest.fixture(scope="module")
def robot(bed, processes):
    robot = bed.on_executor(lambda: FakeRobot(bed))
    bed.hear(OccupancyGrid, MASK, qos.LATCHED)
    processes.start("scene_dictionary")
    bed.until(lambda: bed.diagnosis("scene_dictionary"), "the scene's diagnostics")
    robot.publish_grid()
    return robot


def test_a_person_is_a_cost_that_forbids_nothing_until_the_track_is_over(bed, robot):
    publisher = bed.on_executor(
        lambda: bed.node.create_publisher(msg.MoverTracks, "semantic_voxels/tracks", qos.EVENT)
    )

    def tell(*places):
        stamp = bed.node.get_clock().now().nanoseconds * 1e-9
        tracks = tuple(
            MoverTrack(
                FIRST_TRACK + i, "person", "", np.array([*place, 0.9]), np.zeros(2),
                np.array([0.5, 0.5, 1.7]), stamp - 1.0, stamp, stamp,
            )
            for i, place in enumerate(places)
        )  # fmt: skip
        bed.on_executor(lambda: publisher.publish(tracks_to_msg(tracks, stamp)))

    def values():
        message = bed.last(MASK)
        return set() if message is None else set(np.unique(grid_from_msg(message).cells).tolist())

    bed.until(lambda: tell((1.0, 0.5)) or max(values(), default=0) > COMFORT // 2, "the comfort of a person")
    assert max(values()) < HELD_BACK
    crowd = [(0.3 * k, 0.5) for k in range(5)]
    bed.until(lambda: tell(*crowd) or max(values()) > COMFORT // 2, "that of a crowd")
    assert max(values()) < HELD_BACK
    bed.until(lambda: tell((float("nan"), 0.0)) or values() == {0}, "a place that is none counts as nobody")
    bed.until(lambda: tell((1.0, 0.5)) or max(values()) > 0, "the person again")
    bed.until(lambda: values() == {0}, "it ends with the life of the track, though nothing is told any more")


def test_whoever_the_ranges_show_is_a_cost_too_and_no_entity(bed, robot):
    publisher = bed.on_executor(
        lambda: bed.node.create_publisher(msg.MoverTracks, "mapping/movers", qos.EVENT)
    )

    def tell():
        stamp = bed.node.get_clock().now().nanoseconds * 1e-9
        mover = MoverTrack(
            1,
            "",
            "",
            np.array([1.0, 0.5, 0.4]),
            np.zeros(2),
            np.array([0.4, 0.4, 0.0]),
            stamp - 1.0,
            stamp,
            stamp,
        )
        bed.on_executor(lambda: publisher.publish(tracks_to_msg((mover,), stamp)))

    def values():
        return set(np.unique(grid_from_msg(bed.last(MASK)).cells).tolist())

    bed.until(lambda: tell() or max(values()) > COMFORT // 2, "the comfort of whoever moves")
    assert max(values()) < HELD_BACK
    bed.until(lambda: values() == {0}, "it ends with the life of the track")
