"""Obstructions on a robot's path: closed doors, standing persons, panes of glass, boxes and screens."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lodestar_sim.worlds.world import World, WorldObject

LEAF = 0.06  # m, thickness of a door's leaf; chosen
GLASS = 0.04  # m, thickness of a pane; chosen
LOW = 0.14  # m, height of a box below the camera's view; a Go2's belly touches from 0.10 m; chosen
_LINTEL = 1.8  # m, lowest base of a wall that counts as the lintel of an opening
_SCREEN = (0.08, 1.4, 1.7)  # m, depth, width and height of a folding screen; chosen


@dataclass(frozen=True)
class Doorway:
    """An opening through a wall: centre, axis of the wall ("x" or "y"), width and height, metres."""

    center: tuple[float, float]
    along: str
    width: float
    height: float

    @property
    def yaw(self) -> float:
        """Return the heading of a passage through the doorway, radians."""
        return math.pi / 2 if self.along == "x" else 0.0


def doorways(world: World) -> tuple[Doorway, ...]:
    """Return the openings that have a lintel; passages of full room height are not included."""
    found = []
    for wall in world.walls:
        if wall.z0 < _LINTEL:
            continue
        dx, dy = wall.x1 - wall.x0, wall.y1 - wall.y0
        center = (round((wall.x0 + wall.x1) / 2, 3), round((wall.y0 + wall.y1) / 2, 3))
        found.append(Doorway(center, "x" if dx > dy else "y", round(max(dx, dy), 3), wall.z0))
    return tuple(found)


def free_id(world: World) -> int:
    """Return an id that no object, decal or event of the world uses."""
    added = [event.object.id for event in world.events if event.object is not None]
    return max([t.id for t in world.objects] + [d.id for d in world.decals] + added, default=0) + 1


def door_leaf(world: World, doorway: Doorway) -> WorldObject:
    """Return the door leaf that closes a doorway, for events that add and remove it."""
    size = (LEAF, doorway.width, doorway.height)
    return _thing(world, "door", "brown", "wood", size, "param:door", (*doorway.center, 0.0, doorway.yaw))


def glass_pane(world: World, xy: tuple[float, float], yaw: float, width: float) -> WorldObject:
    """Return a pane of glass across a path with heading `yaw`: no sensor sees it, but the robot collides with it."""
    size = (GLASS, width, 2.0)
    return _thing(
        world, "glass pane", "white", "plastic", size, "param:board/white", (*xy, 0.0, yaw), sensed=False
    )


def standing_person(world: World, xy: tuple[float, float], yaw: float) -> WorldObject:
    """Return a person standing at `xy`, facing `yaw`."""
    return _thing(
        world, "person", "red", "fabric", (0.32, 0.52, 1.75), "param:person?trousers=blue", (*xy, 0.0, yaw)
    )


def crate(
    world: World, xy: tuple[float, float], yaw: float, width: float, height: float = 0.8
) -> WorldObject:
    """Return a crate across a path with heading `yaw`; one of height LOW is below the camera's view."""
    return _thing(
        world, "box", "beige", "paper", (0.5, width, height), "param:box", (*xy, 0.0, yaw), movable=True
    )


def folding_screen(world: World, xy: tuple[float, float], yaw: float) -> WorldObject:
    """Return a folding screen across a line of sight with heading `yaw`."""
    return _thing(world, "folding screen", "white", "fabric", _SCREEN, "param:board/white", (*xy, 0.0, yaw))


def _thing(
    world: World,
    category: str,
    color: str,
    material: str,
    size: tuple[float, float, float],
    mesh: str,
    pose: tuple[float, float, float, float],
    movable: bool = False,
    sensed: bool = True,
) -> WorldObject:
    return WorldObject(
        free_id(world),
        category,
        f"{color} {category}",
        color,
        material,
        size,
        mesh,
        pose,
        movable=movable,
        sensed=sensed,
    )
