"""Room names given to the robot by an operator."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from lodestar.scene.region_names import RegionNames
from lodestar_eval.memory_qa.recording import Recording
from lodestar_sim.worlds.world import World

_MOST_OF_IT = 0.5  # least share of a region's floor that lies in the room it is named after; chosen


def with_room_names(recording: Recording) -> Recording:
    """Return the tour after an operator has named its regions, each by the room that contains most of it.

    The objects in a room do not imply names such as "open plan" or "reception", so an operator gives them, as by
    the service ``~/name_region``, at the end of the tour. Borders stay the map's: a region that spans several rooms
    gets one name.
    """
    scene = recording.stream.scene
    if scene.rooms is None:
        return recording
    rooms, names = copy(scene.rooms), RegionNames()
    rooms.regions = dict(scene.regions)
    for region in sorted(rooms.regions):
        label, place = _room_around(recording.world, rooms.places_of(region))
        if label:
            names.name(rooms, region, place, label)
    named = scene.snapshot()
    named.set_regions(rooms.regions.values(), rooms)
    return replace(recording, stream=replace(recording.stream, scene=named))


def _room_around(world: World, places: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the label of the room that contains most of the places (N, 2), "" without one, and a place in it."""
    for room in world.rooms:
        x0, y0, x1, y1 = room.rect
        inside = (places[:, 0] >= x0) & (places[:, 0] <= x1) & (places[:, 1] >= y0) & (places[:, 1] <= y1)
        if len(places) and inside.mean() > _MOST_OF_IT:
            return room.label, places[np.flatnonzero(inside)[inside.sum() // 2]]
    return "", np.zeros(2)
