"""Shapes of beds."""

from __future__ import annotations

from lodestar_sim.worlds.shapes.design import Design, shape


@shape("bed")
def bed(d: Design) -> None:
    """Build a bed with its head at -x. Options: pillows (1 or 2). The blanket has the object's colour."""
    hx, hy, h = d.half
    top = 0.55 * h if h > 0.6 else 0.75 * h
    d.box((-hx, -hy, 0.0), (-hx + 0.06, hy, h), "brown", "wood")
    d.box((-hx + 0.06, -hy, 0.12), (hx, hy, 0.6 * top), "brown", "wood")
    for side in (-1, 1):
        d.box((hx - 0.08, side * (hy - 0.02), 0.0), (hx - 0.02, side * (hy - 0.08), 0.12), "brown", "wood")
    d.box((-hx + 0.06, -hy + 0.02, 0.6 * top), (-hx + 0.55, hy - 0.02, top), "white", "fabric")
    d.box((-hx + 0.55, -hy + 0.01, 0.6 * top), (hx - 0.01, hy - 0.01, top + 0.02))
    pillows = d.number("pillows", 2, 1, 2)
    width = 2 * hy / pillows
    for i in range(pillows):
        y = -hy + i * width
        d.box((-hx + 0.09, y + 0.1, top), (-hx + 0.45, y + width - 0.1, top + 0.1), "white", "fabric")
    d.surface((-hx + 0.6, -hy + 0.04), (hx - 0.04, hy - 0.04), top + 0.02)
