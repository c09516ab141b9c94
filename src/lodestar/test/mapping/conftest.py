"""Scenes of boxes, rendered by an exact pinhole camera."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from lodestar.geometry.camera import PinholeCamera
from lodestar.geometry.poses import BODY_FROM_OPTICAL, inverse, planar_transform
from lodestar.perception.frames import RgbdFrame, SegmentedFrame
from lodestar.perception.ground_truth import GroundTruthDetector, NoiseConfig

sys.path.insert(0, str(Path(__file__).parent / "occupancy"))  # for floor_reference

CAMERA = PinholeCamera(160, 120, 95.0, 95.0, 79.5, 59.5)


@dataclass
class Box:
    label: str
    low: tuple
    high: tuple
    caption: str = ""
    whole: str = ""  # boxes with the same name share a mask; "" = a separate mask


class BoxWorld:
    """Room with a floor and walls (background) and boxes (label image values 1, 2, ...)."""

    def __init__(self, boxes, room=((-6.0, -6.0, 0.0), (6.0, 6.0, 3.0)), seed=0, noise=None):
        self.boxes = list(boxes)
        self.room = np.array(room)
        self.detector = GroundTruthDetector(noise or NoiseConfig(min_pixels=8), np.random.default_rng(seed))
        self.rng = np.random.default_rng(seed + 1)
        self.camera = CAMERA

    def render(self, map_from_camera):
        """Return depth (H, W) float32 and labels (H, W) uint16."""
        rays = self.camera.rays().reshape(-1, 3) @ map_from_camera[:3, :3].T
        origin = map_from_camera[:3, 3]
        with np.errstate(divide="ignore", invalid="ignore"):
            to_walls = np.where(rays > 0, self.room[1] - origin, self.room[0] - origin) / rays
        depth = np.where(np.isfinite(to_walls), to_walls, np.inf).min(1)
        labels = np.zeros(len(rays), np.uint16)
        for value, box in enumerate(self.boxes, 1):
            with np.errstate(divide="ignore", invalid="ignore"):
                a, b = (box.low - origin) / rays, (box.high - origin) / rays
            enter, leave = np.fmin(a, b).max(1), np.fmax(a, b).min(1)
            hit = (enter < leave) & (enter > 0) & (enter < depth)
            depth[hit], labels[hit] = enter[hit], value
        shape = (self.camera.height, self.camera.width)
        return depth.reshape(shape).astype(np.float32), labels.reshape(shape)

    def frame(self, stamp, x, y, yaw, depth_noise=0.0, map_from_odom=None, true_from_map=None):
        """Return a frame and its segments from a robot at (x, y, yaw), with a level camera at 0.45 m."""
        true_from_camera = planar_transform(x, y, yaw, 0.45) @ BODY_FROM_OPTICAL
        depth, labels = self.render(true_from_camera)
        if depth_noise:
            depth = depth + self.rng.normal(0, depth_noise, depth.shape).astype(np.float32) * (depth > 0)
        map_from_odom = np.eye(4) if map_from_odom is None else map_from_odom
        map_from_camera = (
            true_from_camera if true_from_map is None else inverse(true_from_map) @ true_from_camera
        )
        odom_from_camera = inverse(map_from_odom) @ map_from_camera
        first: dict[str, int] = {}
        for value, box in enumerate(self.boxes, 1):
            if box.whole:
                labels[labels == value] = first.setdefault(box.whole, value)
        table = {
            value: {"class": box.label, "caption": box.caption or f"a {box.label}"}
            for value, box in enumerate(self.boxes, 1)
        }
        frame = RgbdFrame(stamp, self.camera, depth, odom_from_camera, map_from_odom)
        return frame, self.detector.segment(stamp, labels, table)


@pytest.fixture
def box_world():
    return BoxWorld


@pytest.fixture
def box():
    return Box


@pytest.fixture
def orbit():
    """Return poses (x, y, yaw) on an arc around a place, facing it."""

    def poses(centre, radius, start_deg, end_deg, count):
        angles = np.radians(np.linspace(start_deg, end_deg, count))
        return [
            (centre[0] + radius * math.cos(a), centre[1] + radius * math.sin(a), a + math.pi) for a in angles
        ]

    return poses


@pytest.fixture
def segment_nothing():
    def make(frame):
        return SegmentedFrame(frame.stamp, np.zeros(frame.depth.shape, np.uint16), ())

    return make
