"""Signs of a building: door plates, warnings and an exit sign, drawn from a separate random stream."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lodestar_sim.worlds.elements import Sign
from lodestar_sim.worlds.furnish import plan_box
from lodestar_sim.worlds.plan import Door, Plan
from lodestar_sim.worlds.space import RoomSpace
from lodestar_sim.worlds.world import World

_STREAM = 0x516E  # random stream of the signs, combined with the seed
PLATE_HEIGHT = 1.25  # m, height of the centre of a door plate
NUMBER, NAME, ROOM, EXIT, WARNING = 0.05, 0.04, 0.05, 0.15, 0.07  # m, height of capital letters
_EXIT_HEIGHT = 2.1  # m, height of the centre of the exit sign
_FLOOR = 2  # first digit of room numbers
_NUMBERED = ("office", "meeting room", "open plan")
_NAMED = {
    "kitchenette": "KITCHEN",
    "toilets": "WC",
    "server room": "SERVER ROOM",
    "storage room": "STORAGE",
    "print room": "PRINT ROOM",
    "reception": "RECEPTION",
    "workshop": "WORKSHOP",
}
_WARNED = ("server room", "storage room", "workshop", "warehouse")
_WARNINGS = ("DANGER", "NO SMOKING", "HIGH VOLTAGE", "KEEP OUT", "CAUTION")
OCCUPANTS = (
    "MILLER", "GARCIA", "FISCHER", "NAKAMURA", "OKAFOR", "SILVA", "NOVAK", "JENSEN", "PATEL", "LAURENT",
    "KOWALSKI", "HENDERSON", "MORETTI", "CHEN", "ALVAREZ", "BRENNAN",
)  # fmt: skip
_ASIDE = (0.12, 0.4, 0.7)  # m between a doorway and a plate; the smallest of the least obstructed is used
_FILL = 1.8  # line height on a plate, in letter heights
_WIDTH_OF_LETTER = 0.95  # width of a letter with its gap, in letter heights


def with_signs(world: World, plan: Plan, seed: int) -> World:
    """Return a copy of the world with signs on its walls."""
    rng = np.random.default_rng([abs(int(seed)), _STREAM])
    return replace(world, signs=tuple(_signs(world, plan, rng)))


def make_sign(
    kind: str, text: str, center: tuple[float, float, float], yaw: float, letter: float,
    ink: str = "black", background: str = "white", room: int = 0,
) -> Sign:  # fmt: skip
    """Return a sign with a plate sized for its text. letter: height of a capital letter, metres."""
    lines = text.split("\n")
    size = (
        round((max(map(len, lines)) * _WIDTH_OF_LETTER + 1.2) * letter, 3),
        round(len(lines) * _FILL * letter, 3),
    )
    return Sign(kind, text, center, yaw, size, letter, ink, background, room=room)


def _signs(world: World, plan: Plan, rng: np.random.Generator) -> Iterator[Sign]:
    names = [OCCUPANTS[int(i)] for i in rng.permutation(len(OCCUPANTS))]
    counts = {True: -1, False: 0}  # odd numbers on one side of a corridor, even ones on the other
    for door in sorted(plan.doors, key=lambda d: d.center):
        room = door.rooms[1]
        label = plan.labels[room]
        side = _side_of(plan, door, room)
        spot = _beside(world, plan, door, side)
        if spot is None:
            continue
        x, y, yaw, step = spot
        edge = (x, y, PLATE_HEIGHT)
        if label in _NUMBERED:
            counts[side > 0] += 2
            number = f"{_FLOOR}{counts[side > 0]:02d}"
            yield _plate(make_sign("number", number, edge, yaw, NUMBER, room=room), step)
            if label == "office" and names:
                below = (x, y, PLATE_HEIGHT - 0.12)
                yield _plate(make_sign("name", names.pop(), below, yaw, NAME, room=room), step)
        elif label in _NAMED:
            yield _plate(make_sign("room", _NAMED[label], edge, yaw, ROOM, room=room), step)
        if label in _WARNED:
            text = _WARNINGS[int(rng.integers(len(_WARNINGS)))]
            yield _plate(make_sign("warning", text, (x, y, 1.6), yaw, WARNING, "black", "yellow"), step)
    yield from _exit(plan, rng)


def _plate(sign: Sign, step: float) -> Sign:
    """Return a sign moved by half its width along its wall, so that its edge lies at its former centre.

    step: 1 or -1, direction along the wall's axis.
    """
    shift = step * (sign.size[0] / 2)
    x, y, z = sign.center
    along_x = abs(math.cos(sign.yaw)) < 0.5
    return replace(sign, center=(round(x + shift * along_x, 3), round(y + shift * (not along_x), 3), z))


def _side_of(plan: Plan, door: Door, room: int) -> int:
    """Return 1 if the room lies on the side of the door with larger x or y, else -1."""
    x, y = door.center
    dx, dy = (0.0, 0.3) if door.along == "x" else (0.3, 0.0)
    column, row = int((x + dx - plan.origin[0]) // 0.1), int((y + dy - plan.origin[1]) // 0.1)
    return 1 if plan.rooms[row, column] == room else -1


def _beside(world: World, plan: Plan, door: Door, side: int) -> tuple[float, float, float, float] | None:
    """Return a plate's edge x, y beside a door, the yaw of the wall's normal and the direction along it.

    The plate lies on the corridor's wall, where the fewest objects hide it. None if there is no such wall.
    """
    x0, y0, x1, y1 = door.rect
    found = []
    for aside in _ASIDE:
        for step in (1, -1):
            if door.along == "x":
                x, y = (x1 + aside if step > 0 else x0 - aside), (y0 if side > 0 else y1)
                yaw, along, out = (-math.pi / 2 if side > 0 else math.pi / 2), (step, 0), (0, -side)
            else:
                x, y = (x0 if side > 0 else x1), (y1 + aside if step > 0 else y0 - aside)
                yaw, along, out = (math.pi if side > 0 else 0.0), (0, step), (-side, 0)
            covered = [(x + along[0] * d, y + along[1] * d) for d in (0.05, 0.3, 0.55)]
            solid = not any(plan.is_free(px - out[0] * 0.05, py - out[1] * 0.05) for px, py in covered)
            if solid and all(plan.is_free(px + out[0] * 0.3, py + out[1] * 0.3) for px, py in covered):
                hidden = sum(_hidden(world, (px + out[0] * 0.15, py + out[1] * 0.15)) for px, py in covered)
                found.append((hidden, aside, -step, (round(x, 3), round(y, 3), round(yaw, 6), step)))
    return min(found)[3] if found else None


def _hidden(world: World, place: Sequence[float]) -> int:
    """Return the number of tall objects standing or hanging within 0.2 m of a place (x, y)."""
    x, y = place
    boxes = [plan_box(t.size, t.pose) for t in world.objects if t.pose[2] + t.size[2] > PLATE_HEIGHT - 0.2]
    return sum(b[0] - 0.2 < x < b[2] + 0.2 and b[1] - 0.2 < y < b[3] + 0.2 for b in boxes)


def _exit(plan: Plan, rng: np.random.Generator) -> Iterator[Sign]:
    """Yield an exit sign at one end of the largest hall, high on the wall."""
    halls = {door.rooms[0] for door in plan.doors}
    if not halls:
        return
    hall = max(halls, key=lambda room: (int((plan.rooms == room).sum()), -room))
    space = RoomSpace(plan, hall)
    x0, y0, x1, y1 = space.rect
    along = "y" if x1 - x0 >= y1 - y0 else "x"
    ends = [wall for wall in space.walls if wall.along == along and wall.end - wall.start >= 1.0]
    if ends:
        wall = ends[int(rng.integers(len(ends)))]
        middle = round(float(wall.start + wall.end) / 2, 3)
        place = (middle, float(wall.line)) if along == "x" else (float(wall.line), middle)
        yield make_sign("exit", "EXIT", (*place, _EXIT_HEIGHT), wall.yaw, EXIT, "white", "green")
