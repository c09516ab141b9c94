"""Shapes of shelves and racks with open compartments, and of cabinets."""

from __future__ import annotations

from lodestar_sim.worlds.shapes.design import Design, shape


@shape("shelf")
def shelf(d: Design) -> None:
    """Build a shelf: boards between two sides, open in front. Options: boards, back (0 or 1)."""
    hx, hy, h = d.half
    t = 0.025
    boards = d.number("boards", 4, 2, 8)
    for side in (-1, 1):
        d.box((-hx, side * hy, 0.0), (hx, side * (hy - t), h))
    if d.number("back", 1):
        d.box((-hx, -hy + t, 0.0), (-hx + 0.01, hy - t, h))
    step = (h - t - 0.06) / boards
    for i in range(boards + 1):
        z = 0.06 + i * step
        d.box((-hx, -hy + t, z), (hx, hy - t, z + t))
        if i < boards:
            d.surface((-hx + 0.015, -hy + t + 0.01), (hx, hy - t - 0.01), z + t, step - t, True)
        elif h < 1.4:
            d.surface((-hx + 0.02, -hy + 0.03), (hx, hy - 0.03), h)


@shape("rack")
def rack(d: Design) -> None:
    """Build a pallet rack: uprights, beams and decks. Options: levels, bays."""
    hx, hy, h = d.half
    levels, bays = d.number("levels", 3, 1, 6), d.number("bays", 1, 1, 6)
    width = 2 * hy / bays
    post = 0.08
    for i in range(bays + 1):
        y = min(max(-hy + i * width - post / 2, -hy), hy - post)
        for x in (-hx, hx - post):
            d.box((x, y, 0.0), (x + post, y + post, h), "blue", "metal")
    for level in range(levels):
        z = 0.12 if level == 0 else 0.12 + level * (h - 0.3) / levels
        above = 0.12 + (level + 1) * (h - 0.3) / levels if level + 1 < levels else h
        for x in (-hx, hx - 0.05):
            d.box((x, -hy, z - 0.1), (x + 0.05, hy, z), "orange", "metal")
        d.box((-hx + 0.05, -hy, z - 0.03), (hx - 0.05, hy, z), "gray", "metal")
        for i in range(bays):
            y0, y1 = -hy + i * width + post, -hy + (i + 1) * width - post
            d.surface((-hx + 0.02, y0), (hx - 0.02, y1), z, above - z - 0.12, True)


@shape("cabinet")
def cabinet(d: Design) -> None:
    """Build a cabinet with a closed body. Variants: doors, drawers, plain. Options: doors, drawers."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx - 0.03, hy, h))
    knob = ("gray", "metal")
    if d.variant == "drawers":
        count = d.number("drawers", 3, 1, 8)
        for i in range(count):
            z0, z1 = i * h / count + 0.015, (i + 1) * h / count - 0.01
            d.box((hx - 0.03, -hy + 0.015, z0), (hx - 0.012, hy - 0.015, z1))
            d.box((hx - 0.012, -0.06, (z0 + z1) / 2), (hx, 0.06, (z0 + z1) / 2 + 0.02), *knob)
    else:
        count = d.number("doors", 2, 1, 6)
        width = 2 * hy / count
        for i in range(count):
            y0, y1 = -hy + i * width + 0.01, -hy + (i + 1) * width - 0.01
            d.box((hx - 0.03, y0, 0.03), (hx - 0.012, y1, h - 0.02))
            y = y1 - 0.06 if i % 2 == 0 else y0 + 0.04
            d.box((hx - 0.012, y, 0.45 * h), (hx, y + 0.02, 0.58 * h), *knob)
    if h < 1.4:
        d.surface((-hx + 0.01, -hy + 0.01), (hx - 0.04, hy - 0.01), h)
