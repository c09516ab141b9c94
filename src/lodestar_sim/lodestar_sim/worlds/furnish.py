"""Placement of objects in rooms so that they fit, are supported and can be approached."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar_sim.worlds.catalogue import CATALOGUE
from lodestar_sim.worlds.mesh import Surface
from lodestar_sim.worlds.references import load_shape
from lodestar_sim.worlds.space import Box, RoomSpace
from lodestar_sim.worlds.world import WorldObject

GAP = 0.02  # m between an object and the wall behind it
ATTEMPTS = 40
ROW_PITCH, ROW_AISLE, ROW_GAP = 1.62, 1.6, 0.85  # m, between desks, rows, pairs of columns
TOP_REACH = 0.16  # m from the front edge within which small objects stand, so that a low camera sees them
OUTWARD = ("window", "curtain")  # categories mounted on outer walls only
MAX_HEIGHT = 1.5  # m, highest base of an object that can be a target


@dataclass
class Made:
    """A placed object. box: its bounding rectangle from above, metres. taken: used areas of its surfaces."""

    thing: WorldObject
    box: Box
    room: int
    taken: list[tuple[int, float, float, float, float]] = field(default_factory=list)


class Furnisher:
    """Create and place objects. All randomness comes from `rng`; ids count up from 1."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.made: list[Made] = []
        self.mounted: list[tuple[Box, float, float]] = []
        self._next = 1

    def on_another_storey(self) -> Furnisher:
        """Return an empty furnisher for another storey; its ids continue after those used here."""
        other = Furnisher(self.rng)
        other._next = self._next
        return other

    @property
    def objects(self) -> tuple[WorldObject, ...]:
        """Return all objects placed so far."""
        return tuple(m.thing for m in self.made)

    def new_id(self) -> int:
        """Return the next free id."""
        self._next += 1
        return self._next - 1

    def design(self, name: str, color: str = "", word: str | None = None) -> WorldObject:
        """Return an object of category `name` at the origin, with id 0 and random variant, size and colour.

        color, word: choose the colour and, if there is one, the variant with this caption word.
        """
        kind = CATALOGUE[name]
        variants = [v for v in kind.variants if word is None or v.word == word] or list(kind.variants)
        variant = variants[int(self.rng.integers(len(variants)))]
        colors = variant.colors or kind.colors
        color = color if color else colors[int(self.rng.integers(len(colors)))]
        size = kind.sample_size(self.rng)
        if "/round" in variant.mesh:
            size = (size[0], size[0], size[2])
        caption = " ".join(part for part in (color, variant.word, name) if part)
        return WorldObject(
            0,
            name,
            caption,
            color,
            variant.material,
            size,
            variant.mesh,
            (0.0, 0.0, 0.0, 0.0),
            movable=kind.movable,
        )

    # -- on the floor ------------------------------------------------------------------------------------------

    def against_wall(self, space: RoomSpace, thing: WorldObject, corner: bool = False) -> Made | None:
        """Place an object with its back to a wall, or in a corner; return None if it fits nowhere."""
        sides = [s for s in space.walls if s.end - s.start >= thing.size[1] + 0.02]
        if not sides:
            return None
        weights = np.array([s.end - s.start for s in sides])
        for _ in range(ATTEMPTS):
            side = sides[int(self.rng.choice(len(sides), p=weights / weights.sum()))]
            low, high = side.start + thing.size[1] / 2 + GAP, side.end - thing.size[1] / 2 - GAP
            if high < low:
                continue
            at = low + (high - low) * self.rng.random()
            if corner:
                at = low if self.rng.random() < 0.5 else high
            pose = _wall_pose(side.along, side.line, at, side.yaw, thing.size[0] / 2 + GAP)
            made = self._try(space, thing, pose)
            if made:
                return made
        return None

    def free_standing(self, space: RoomSpace, thing: WorldObject, centre: bool = False) -> Made | None:
        """Place an object on the floor, parallel to the room's walls; return None if it fits nowhere.

        centre: near the middle of the room.
        """
        x0, y0, x1, y1 = space.rect
        for _ in range(ATTEMPTS):
            if centre:
                x = (x0 + x1) / 2 + (self.rng.random() - 0.5) * 0.3 * (x1 - x0)
                y = (y0 + y1) / 2 + (self.rng.random() - 0.5) * 0.3 * (y1 - y0)
            else:
                x, y = x0 + (x1 - x0) * self.rng.random(), y0 + (y1 - y0) * self.rng.random()
            yaw = float(self.rng.integers(4)) * math.pi / 2
            made = self._try(space, thing, (x, y, 0.0, yaw))
            if made:
                return made
        return None

    def in_rows(self, space: RoomSpace, thing: WorldObject) -> Made | None:
        """Place an object at the next free place in parallel rows; return None if no place is free."""
        x0, y0, x1, y1 = space.rect
        along_x = x1 - x0 >= y1 - y0
        pitch, aisle = ROW_PITCH, thing.size[0] + ROW_AISLE
        yaw = 0.0 if along_x else math.pi / 2  # rows run across the longer side
        far, wide = (x1 - x0, y1 - y0) if along_x else (y1 - y0, x1 - x0)
        for row in range(int((far - 2.0) // aisle)):
            for column in range(int((wide - 1.8) // pitch)):
                forward = 1.0 + thing.size[0] / 2 + row * aisle
                aside = 0.9 + pitch / 2 + column * pitch + (ROW_GAP if column >= 2 else 0.0)
                x, y = (x0 + forward, y0 + aside) if along_x else (x0 + aside, y0 + forward)
                made = self._try(space, thing, (x, y, 0.0, yaw)) if self.rng.random() < 0.9 else None
                if made:
                    return made
        return None

    def before(
        self, space: RoomSpace, thing: WorldObject, anchor: Made, gap: float = 0.06, facing: bool = True
    ) -> Made | None:
        """Place an object in front of the anchor, facing it if `facing`; return None if it does not fit."""
        base = anchor.thing.pose[3]
        return self._beside(space, thing, anchor, base, gap, base + (math.pi if facing else 0.0))

    def beside(
        self, space: RoomSpace, thing: WorldObject, anchor: Made, gap: float = 0.05, seated: bool = False
    ) -> Made | None:
        """Place an object to the left or right of the anchor; return None if it does not fit.

        seated: it faces the anchor; otherwise their backs are aligned.
        """
        base = anchor.thing.pose[3]
        sides = [math.pi / 2, -math.pi / 2]
        if self.rng.random() < 0.5:
            sides.reverse()
        for side in sides:
            yaw = base + side + math.pi if seated else base
            made = self._beside(space, thing, anchor, base + side, gap, yaw, align_back=not seated)
            if made:
                return made
        return None

    def around(self, space: RoomSpace, thing: WorldObject, anchor: Made, gap: float = 0.05) -> Made | None:
        """Place an object at any side of the anchor, facing it; return None if it does not fit."""
        base = anchor.thing.pose[3]
        for turn in self.rng.permutation(4):
            direction = base + float(turn) * math.pi / 2
            made = self._beside(space, thing, anchor, direction, gap, direction + math.pi)
            if made:
                return made
        return None

    def _beside(
        self,
        space: RoomSpace,
        thing: WorldObject,
        anchor: Made,
        direction: float,
        gap: float,
        yaw: float,
        align_back: bool = False,
    ) -> Made | None:
        """Place an object `gap` metres or little more from the anchor's box; return None if it does not fit.

        direction: from the anchor to the object, radians in map, at a right angle to a side of the box.
        """
        other = anchor.thing
        turned = direction - other.pose[3]
        reach = other.size[0] / 2 if abs(math.cos(turned)) > 0.5 else other.size[1] / 2
        wide = other.size[1] if abs(math.cos(turned)) > 0.5 else other.size[0]
        mine = thing.size[0] / 2 if abs(math.cos(direction - yaw)) > 0.5 else thing.size[1] / 2
        own_width = thing.size[1] if abs(math.cos(direction - yaw)) > 0.5 else thing.size[0]
        slack = max(0.0, (wide - own_width) / 2)
        for attempt in range(6):
            away = reach + gap + mine + 0.02 * attempt
            shift = (2 * self.rng.random() - 1) * slack
            x = other.pose[0] + away * math.cos(direction)
            y = other.pose[1] + away * math.sin(direction)
            if align_back:
                shift = (thing.size[0] - other.size[0]) / 2
                x += shift * math.cos(other.pose[3])
                y += shift * math.sin(other.pose[3])
            else:
                x -= shift * math.sin(direction)
                y += shift * math.cos(direction)
            made = self._try(space, thing, (x, y, 0.0, yaw))
            if made:
                return made
        return None

    def stand(
        self, space: RoomSpace, thing: WorldObject, pose: tuple[float, float, float, float]
    ) -> Made | None:
        """Place an object on the floor at a pose; None if it does not fit or makes another unreachable."""
        return self._try(space, thing, pose)

    def _try(
        self, space: RoomSpace, thing: WorldObject, pose: tuple[float, float, float, float]
    ) -> Made | None:
        """Place an object if it fits and all objects stay reachable, else return None."""
        pose = (round(pose[0], 3), round(pose[1], 3), round(pose[2], 3), round(_wrapped(pose[3]), 6))
        box = plan_box(thing.size, pose)
        if not space.fits(box) or any(_overlap(box, b) and z0 < thing.size[2] for b, z0, _ in self.mounted):
            return None
        space.block(box)
        here = [
            m.box
            for m in self.made
            if m.room == space.room and not m.thing.supported_by and not m.thing.mounted
        ]
        if not space.reachable([*here, box], space.walkable()):
            space.unblock(box)
            return None
        return self._keep(replace(thing, pose=pose), box, space.room)

    def _keep(self, thing: WorldObject, box: Box, room: int) -> Made:
        made = Made(replace(thing, id=self.new_id()), box, room)
        self.made.append(made)
        return made

    # -- on walls ----------------------------------------------------------------------------------------------

    def mount(self, space: RoomSpace, thing: WorldObject, height: float) -> Made | None:
        """Mount an object on a wall, its lower edge at `height` metres, clear of other objects.

        Return None if it fits nowhere.
        """
        sides = [s for s in space.walls if s.end - s.start >= thing.size[1] + 0.1]
        for _ in range(ATTEMPTS if sides else 0):
            side = sides[int(self.rng.integers(len(sides)))]
            low, high = side.start + thing.size[1] / 2 + 0.05, side.end - thing.size[1] / 2 - 0.05
            at = low + (high - low) * self.rng.random()
            if thing.category in OUTWARD and not space.is_outer(side, at):
                continue
            x, y, _, yaw = _wall_pose(side.along, side.line, at, side.yaw, thing.size[0] / 2 + 0.002)
            pose = (round(x, 3), round(y, 3), round(height, 3), round(_wrapped(yaw), 6))
            box = plan_box(thing.size, pose)
            top = height + thing.size[2]
            if self._hangs_free(space, thing, pose, box, height, top):
                self.mounted.append((box, height, top))
                return self._keep(replace(thing, pose=pose, mounted=True), box, space.room)
        return None

    def _hangs_free(
        self, space: RoomSpace, thing: WorldObject, pose: tuple[float, ...], box: Box, low: float, high: float
    ) -> bool:
        if not space.on_floor(box):
            return False
        depth = thing.size[0] / 2 + 0.5  # the place in front must be reachable, low furniture ignored
        front = (pose[0] + depth * math.cos(pose[3]), pose[1] + depth * math.sin(pose[3]))
        if not space.on_floor((front[0] - 0.05, front[1] - 0.05, front[0] + 0.05, front[1] + 0.05)):
            return False
        if any(_overlap(box, b) and low < z1 and z0 < high for b, z0, z1 in self.mounted):
            return False
        for made in self.made:
            z = made.thing.pose[2]
            if _overlap(box, made.box) and low < z + made.thing.size[2] + 0.02 and z < high:
                return False
        walkable = space.walkable()
        return space.reachable([box], walkable) if walkable.any() else False

    # -- on and in objects ------------------------------------------------------------------------------------

    def put_on(self, thing: WorldObject, anchor: Made) -> Made | None:
        """Place an object on a surface or in a compartment of the anchor, near its front.

        Return None if it fits nowhere.
        """
        shape = load_shape(anchor.thing.mesh, anchor.thing.size, anchor.thing.color, anchor.thing.material)
        order = self.rng.permutation(len(shape.surfaces))
        for index in order:
            surface = shape.surfaces[int(index)]
            if anchor.thing.pose[2] + surface.z > MAX_HEIGHT or thing.size[2] > surface.headroom - 0.02:
                continue
            for _ in range(10):
                spot = self._spot(thing, surface)
                if spot is None:
                    break
                local, yaw = spot
                foot = plan_box(thing.size, (local[0], local[1], 0.0, yaw))
                if any(i == index and _overlap(foot, box) for i, *box in anchor.taken):
                    continue
                anchor.taken.append(
                    (int(index), foot[0] - 0.01, foot[1] - 0.01, foot[2] + 0.01, foot[3] + 0.01)
                )
                return self._stand(thing, anchor, surface, local, yaw)
        return None

    def _spot(self, thing: WorldObject, surface: Surface) -> tuple[tuple[float, float], float] | None:
        """Return a random place (x, y) and yaw for an object on a surface; None if the surface is too small.

        Both are in the frame of the object that has the surface. The place may be occupied.
        """
        turn = 0.0 if surface.inside or max(thing.size) > 0.45 else 0.25
        yaw = float(self.rng.uniform(-turn, turn))
        foot = plan_box(thing.size, (0.0, 0.0, 0.0, yaw))
        hx, hy = foot[2] + 0.005, foot[3] + 0.005
        if surface.x1 - surface.x0 < 2 * hx or surface.y1 - surface.y0 < 2 * hy:
            return None
        front = surface.x1 - hx
        x = max(surface.x0 + hx, front - TOP_REACH * float(self.rng.random()))
        y = surface.y0 + hy + (surface.y1 - surface.y0 - 2 * hy) * float(self.rng.random())
        return (x, y), yaw

    def _stand(
        self, thing: WorldObject, anchor: Made, surface: Surface, local: tuple[float, float], yaw: float
    ) -> Made:
        owner = anchor.thing
        c, s = math.cos(owner.pose[3]), math.sin(owner.pose[3])
        pose = (
            owner.pose[0] + c * local[0] - s * local[1],
            owner.pose[1] + s * local[0] + c * local[1],
            owner.pose[2] + surface.z,
            _wrapped(owner.pose[3] + yaw),
        )
        placed = replace(
            thing, pose=pose, supported_by=owner.id, contained_in=owner.id if surface.inside else 0
        )
        return self._keep(placed, plan_box(thing.size, pose), anchor.room)


def plan_box(size: tuple[float, float, float], pose: tuple[float, float, float, float]) -> Box:
    """Return the bounding rectangle x0, y0, x1, y1, metres, of a box of `size` at a pose (x, y, z, yaw)."""
    c, s = abs(math.cos(pose[3])), abs(math.sin(pose[3]))
    hx, hy = (size[0] * c + size[1] * s) / 2, (size[0] * s + size[1] * c) / 2
    return pose[0] - hx, pose[1] - hy, pose[0] + hx, pose[1] + hy


def _overlap(a: Sequence[float], b: Sequence[float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _wrapped(angle: float) -> float:
    return math.atan2(math.sin(angle), math.cos(angle))


def _wall_pose(
    along: str, line: float, at: float, yaw: float, depth: float
) -> tuple[float, float, float, float]:
    if along == "x":
        return at, line + depth * math.sin(yaw), 0.0, yaw
    return line + depth * math.cos(yaw), at, 0.0, yaw
