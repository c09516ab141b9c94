"""Building of shelved rooms along corridors with a given number of objects, and a tour through all rooms."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lodestar_sim.worlds.elements import Slab, Wall
from lodestar_sim.worlds.world import Room, World, WorldObject

ROOM = (6.0, 5.0)  # m, size of a room along and across the corridor, walls included; chosen
CORRIDOR = 2.0  # m, width of the corridors; chosen
_BLOCK = CORRIDOR + 2.0 * ROOM[1]  # m, a corridor with the rooms on both sides
_WALL = 0.1  # m, thickness of walls
_CEILING = 2.6  # m, height of rooms
_DOOR = 1.2  # m, width of a room's doorway, which is as high as the room
_UNIT = (0.35, 0.95, 1.705)  # m, depth, length and height of a shelf; chosen
_BOARDS, _PER_BOARD = 6, 5  # boards of a shelf; objects on each; chosen
_FIRST, _STEP = 0.085, 0.27  # m, height of the lowest board; spacing of boards (`shapes.storage.shelf`)
_GAP = 0.01  # m between a shelf and the wall behind it

#: Names of the objects on the shelves, from the lexicon's household items.
_NOUNS = (
    "alarm clock", "ball", "basket", "blender", "book", "bottle", "bowl", "box", "calculator", "camera", "can",
    "candle", "crate", "cushion", "drill", "flower pot", "folder", "game console", "hammer", "hat", "headphones",
    "helmet", "iron", "jar", "jug", "kettle", "lamp", "magazine", "mug", "notebook", "pan", "paper towel", "pillow",
    "plate", "pot", "radio", "router", "scale", "sculpture", "shoe", "shopping bag", "speaker", "stapler",
    "tablet", "teapot", "teddy bear", "thermos", "tissue box", "toaster", "toolbox", "towel", "toy", "tray", "vase",
)  # fmt: skip
_COLORS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "brown", "black", "white")


@dataclass(frozen=True)
class BuildingSize:
    """Size of a building. blocks: corridors with rooms on both sides; columns: rooms along each side. objects:
    wanted number, shelves included; fewer if they do not fit. By default 1,800 m2 and 30,000 objects.
    """

    blocks: int = 3
    columns: int = 8
    objects: int = 30_000

    @property
    def rooms(self) -> int:
        """Return the number of rooms."""
        return 2 * self.blocks * self.columns

    @property
    def width(self) -> float:
        """Return the building's extent along its corridors, metres, including the connecting corridor."""
        return CORRIDOR + self.columns * ROOM[0]

    @property
    def area(self) -> float:
        """Return the floor area in m2."""
        return self.width * self.blocks * _BLOCK


@dataclass(frozen=True)
class _Frame:
    """Local frame of a room. x0: its least x; door: y of its corridor wall; inward: +1 or -1 along y."""

    x0: float
    door: float
    inward: float

    def point(self, along: float, depth: float) -> tuple[float, float]:
        """Return x, y of a place in the room, given metres along the corridor and metres into the room."""
        return self.x0 + along, self.door + self.inward * depth

    def yaw(self, along: float, depth: float) -> float:
        """Return the map heading of a direction given along the corridor and into the room."""
        return math.atan2(self.inward * depth, along)


def _frames(size: BuildingSize) -> list[_Frame]:
    """Return the rooms' frames in tour order: block by block, along the corridor, both sides in turn."""
    frames = []
    for block in range(size.blocks):
        middle = block * _BLOCK + ROOM[1]
        for column in range(size.columns):
            for inward, door in ((-1.0, middle), (1.0, middle + CORRIDOR)):
                frames.append(_Frame(column * ROOM[0], door, inward))
    return frames


def room_at(size: BuildingSize, x: float, y: float) -> int:
    """Return the number, in the order of the tour, of the room that contains a point."""
    block, across = divmod(y, _BLOCK)
    return int(block) * 2 * size.columns + 2 * int(x // ROOM[0]) + int(across > ROOM[1])


def board_heights() -> np.ndarray:
    """Return the heights of a shelf's boards, metres."""
    return _FIRST + _STEP * np.arange(_BOARDS)


def _shelves() -> list[tuple[float, float, float, float]]:
    """Return per shelf of a room: its centre as metres along the corridor and metres into the room, and the
    direction to which it is open.
    """
    wide, deep = ROOM
    half = _UNIT[0] / 2 + _WALL / 2 + _GAP
    length = _UNIT[1]
    found = [(0.55 + length * (i + 0.5), deep - half - 0.01, 0.0, -1.0) for i in range(5)]
    for i in range(4):
        depth = 0.55 + length * (i + 0.5)
        found += [(half, depth, 1.0, 0.0), (wide - half, depth, -1.0, 0.0)]
    for i in range(2):
        along = 0.42 + length * (i + 0.5)
        found += [(along, half, 0.0, 1.0), (wide - along, half, 0.0, 1.0)]
    for i in range(3):
        along = wide / 2 + length * (i - 1)
        found += [(along, deep / 2 - _UNIT[0] / 2, 0.0, -1.0), (along, deep / 2 + _UNIT[0] / 2, 0.0, 1.0)]
    return found


def stocked_building(size: BuildingSize, seed: int) -> World:
    """Return the building, reproducible by seed; the robot starts in the first corridor."""
    rng = np.random.default_rng([seed, 0x5CA1E])
    frames, shelves = _frames(size), _shelves()
    slots = len(shelves) * _BOARDS * _PER_BOARD
    wanted = max(size.objects - len(frames) * len(shelves), 0)
    stocked = rng.permutation(len(frames) * slots) < wanted
    objects: list[WorldObject] = []
    for number, frame in enumerate(frames):
        own = stocked[number * slots : (number + 1) * slots].reshape(len(shelves), _BOARDS, _PER_BOARD)
        for shelf, filled in zip(shelves, own):
            objects += _shelf(frame, shelf, filled, len(objects) + 1, rng)
    width, depth = size.width, size.blocks * _BLOCK
    rooms = tuple(Room(k + 1, "storage room", _outline(frame)) for k, frame in enumerate(frames))
    slabs = (
        Slab(-CORRIDOR, 0.0, width - CORRIDOR, depth, 0.0, "gray", "concrete"),
        Slab(-CORRIDOR, 0.0, width - CORRIDOR, depth, _CEILING, "white", "plaster", True),
    )
    return World(
        "stocked", "office", seed, (-CORRIDOR, 0.0, width - CORRIDOR, depth), (-1.0, ROOM[1] + CORRIDOR / 2, 0.0),
        rooms, _walls(size, frames), slabs, tuple(objects),
    )  # fmt: skip


def captions() -> tuple[str, ...]:
    """Return the labels and captions of all objects that such a building may contain."""
    return ("shelf", "gray shelf", *_NOUNS, *(f"{color} {noun}" for noun in _NOUNS for color in _COLORS))


def _outline(frame: _Frame) -> tuple[tuple[float, float], ...]:
    return tuple(frame.point(*corner) for corner in ((0.0, 0.0), (ROOM[0], 0.0), ROOM, (0.0, ROOM[1])))


def _shelf(
    frame: _Frame, shelf: tuple[float, ...], filled: np.ndarray, first: int, rng: np.random.Generator
) -> list[WorldObject]:
    """Return a shelf with its objects. filled: (boards, places) bool. first: id of the shelf."""
    along, depth, *open_to = shelf
    x, y = frame.point(along, depth)
    yaw = frame.yaw(*open_to)
    front, side = np.array([math.cos(yaw), math.sin(yaw)]), np.array([-math.sin(yaw), math.cos(yaw)])
    made = [
        WorldObject(
            first, "shelf", "gray shelf", "gray", "metal", _UNIT, f"param:shelf?boards={_BOARDS}", (x, y, 0.0, yaw)
        )
    ]  # fmt: skip
    pitch = (_UNIT[1] - 0.06) / _PER_BOARD
    for board, place in np.argwhere(filled).tolist():
        noun, color = _NOUNS[rng.integers(len(_NOUNS))], _COLORS[rng.integers(len(_COLORS))]
        own = np.round(rng.uniform((0.1, 0.09, 0.12), (0.16, 0.13, 0.22)), 3)
        at = np.array([x, y]) + front * (_UNIT[0] / 2 - 0.01 - own[0] / 2)
        at = at + side * (pitch * (place + 0.5) - (_UNIT[1] - 0.06) / 2)
        pose = (float(at[0]), float(at[1]), _FIRST + _STEP * board, yaw)
        made.append(
            WorldObject(
                first + len(made), noun, f"{color} {noun}", color, "plastic", tuple(own.tolist()), "param:box/plain",
                pose, supported_by=first,
            )
        )  # fmt: skip
    return made


def _walls(size: BuildingSize, frames: list[_Frame]) -> tuple[Wall, ...]:
    """Return the outer walls, the walls between rooms, and those to the corridors beside the doorways."""
    half = _WALL / 2
    walls: list[Wall] = []
    x0, x1, y1 = -CORRIDOR, size.width - CORRIDOR, size.blocks * _BLOCK

    def wall(ax: float, ay: float, bx: float, by: float) -> None:
        low_x, high_x, low_y, high_y = min(ax, bx), max(ax, bx), min(ay, by), max(ay, by)
        walls.append(Wall(low_x - half, low_y - half, high_x + half, high_y + half, 0.0, _CEILING))

    for corners in ((x0, 0.0, x1, 0.0), (x0, y1, x1, y1), (x0, 0.0, x0, y1), (x1, 0.0, x1, y1)):
        wall(*corners)
    side = (ROOM[0] - _DOOR) / 2
    for frame in frames:
        wall(*frame.point(0.0, 0.0), *frame.point(0.0, ROOM[1]))
        wall(*frame.point(0.0, ROOM[1]), *frame.point(*ROOM))
        wall(*frame.point(0.0, 0.0), *frame.point(side, 0.0))
        wall(*frame.point(ROOM[0] - side, 0.0), *frame.point(ROOM[0], 0.0))
    return tuple(walls)


@dataclass(frozen=True)
class Waypoint:
    """Place (x, y) of the tour. rooms: number of rooms that are complete when the robot has reached it."""

    x: float
    y: float
    rooms: int


def tour_of(size: BuildingSize) -> list[Waypoint]:
    """Return the path from the start around the middle shelves of every room."""
    way: list[Waypoint] = []
    wide, deep = ROOM
    # middle of the aisle in front of the wall shelves
    aside = 0.5 * (0.5 * deep - _UNIT[0] + 0.5 * _WALL + _UNIT[0])
    ring = [
        (wide / 2, aside), (0.95, aside), (0.95, deep - aside), (wide - 0.95, deep - aside), (wide - 0.95, aside),
        (wide / 2, aside),
    ]  # fmt: skip
    last = -1
    for number, frame in enumerate(_frames(size)):
        block = number // (2 * size.columns)
        middle = block * _BLOCK + ROOM[1] + CORRIDOR / 2
        if block != last:
            way += [Waypoint(-CORRIDOR / 2, way[-1].y if way else middle, number)]
            way += [Waypoint(-CORRIDOR / 2, middle, number)]
            last = block
        door = frame.x0 + wide / 2
        way.append(Waypoint(door, middle, number))
        way += [Waypoint(*frame.point(*place), number) for place in ring]
        way.append(Waypoint(door, middle, number + 1))
    return way
