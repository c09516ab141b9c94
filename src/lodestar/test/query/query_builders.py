"""Small room, and a phrase book with vectors made up for the tests."""

from __future__ import annotations

import numpy as np

from lodestar.geometry.poses import BODY_FROM_OPTICAL, planar_transform
from lodestar.perception.frames import ImageBox
from lodestar.scene.captions import attributes_of
from lodestar.scene.records import Entity, View


def thing(identity, label, caption, low, high, **changes):
    low, high = np.array(low, float), np.array(high, float)
    return Entity(
        id=identity,
        label=label,
        caption=caption,
        mean=(low + high) / 2,
        covariance=np.eye(3) * 0.02,
        box_min=low,
        box_max=high,
        attributes=attributes_of(caption),
        **changes,
    )


def view_from(x, y, yaw):
    return View(1.0, planar_transform(x, y, yaw, 0.5) @ BODY_FROM_OPTICAL, ImageBox(0, 0, 10, 10))


def room():
    """Return entities: a desk with a mug, chairs beside it and far off, a box under it; metres."""
    things = [
        thing(1, "chair", "red office chair", (0, 0, 0), (0.5, 0.5, 0.9)),
        thing(2, "chair", "blue office chair", (0, 1, 0), (0.5, 1.5, 0.9)),
        thing(3, "desk", "brown wooden desk", (0.8, 0, 0), (1.5, 1.4, 0.75)),
        thing(4, "chair", "red wooden chair", (6, 6, 0), (6.5, 6.5, 0.9)),
        thing(5, "mug", "white mug", (1.0, 0.5, 0.75), (1.1, 0.6, 0.85)),
        thing(6, "fire extinguisher", "red fire extinguisher", (9, 0, 0.2), (9.2, 0.2, 0.7)),
        thing(7, "chair", "chair", (0.2, 1.8, 0), (0.7, 2.2, 0.9)),
        thing(8, "box", "brown box", (1.0, 0.3, 0), (1.3, 0.6, 0.3)),
        thing(9, "wet floor", "wet floor", (3, 3, 0), (4, 4, 0.02)),
        thing(10, "sofa", "gray sofa", (-4, 0, 0), (-3, 2, 0.9)),
        thing(11, "backpack", "blue backpack", (-3.6, 0.5, 0.45), (-3.3, 0.8, 0.85)),
    ]
    return {e.id: e for e in things}
