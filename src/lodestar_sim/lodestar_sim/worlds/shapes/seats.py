"""Shapes of chairs, sofas, benches and stools."""

from __future__ import annotations

import math

from lodestar_sim.worlds.shapes.design import Design, shape


@shape("chair")
def chair(d: Design) -> None:
    """Build a chair. Variants: wooden, dining (padded), office (star base), folding."""
    if d.variant == "office":
        return _office_chair(d)
    hx, hy, h = d.half
    seat = 0.47 * h if h > 0.7 else 0.5 * h
    leg = "black" if d.variant in ("dining", "folding") else ""
    metal = "metal" if d.variant in ("dining", "folding") else ""
    d.legs(0.01, 0.035, seat - 0.03, leg, metal)
    d.box((-hx, -hy, seat - 0.04), (hx, hy, seat))
    if d.variant == "dining":
        d.box((-hx + 0.02, -hy + 0.02, seat), (hx - 0.02, hy - 0.02, seat + 0.03))
    for side in (-1, 1):
        d.box((-hx, side * hy, seat), (-hx + 0.035, side * (hy - 0.035), h), leg, metal)
    if d.variant == "wooden":
        for z in (0.62, 0.76, 0.9):
            d.box((-hx, -hy, z * h), (-hx + 0.025, hy, (z + 0.1) * h))
    else:
        d.box((-hx, -hy, seat + 0.28 * (h - seat)), (-hx + 0.045, hy, h))
    return None


def _office_chair(d: Design) -> None:
    hx, hy, h = d.half
    seat = 0.5 * h
    for i in range(5):
        angle = math.tau * i / 5
        x, y = 0.94 * hx * math.cos(angle), 0.94 * hy * math.sin(angle)
        d.bar((0.0, 0.0, 0.10), (x, y, 0.06), 0.04, "black", "plastic")
        d.box((x - 0.025, y - 0.025, 0.0), (x + 0.025, y + 0.025, 0.06), "black", "plastic")
    d.cylinder(0.03, 0.09, seat - 0.08, segments=6, color="gray", material="metal")
    d.box((-0.86 * hx, -0.86 * hy, seat - 0.08), (hx, 0.86 * hy, seat))
    d.tilted_box((-0.88 * hx, 0.0, (seat + h) / 2 + 0.02), (0.06, 1.6 * hy, h - seat - 0.06), -0.06)
    if d.number("arms", 1):
        for side in (-1, 1):
            d.box(
                (-0.3 * hx, side * hy, seat + 0.16),
                (0.55 * hx, side * (hy - 0.06), seat + 0.20),
                "black",
                "plastic",
            )
            d.box((0.0, side * hy, seat - 0.06), (0.04, side * (hy - 0.04), seat + 0.16), "black", "plastic")


@shape("stool")
def stool(d: Design) -> None:
    """Build a stool. Variants: round (turned), bar (with a foot ring)."""
    hx, hy, h = d.half
    for sx in (-1, 1):
        for sy in (-1, 1):
            d.bar(
                (sx * 0.9 * hx, sy * 0.9 * hy, 0.0),
                (sx * 0.5 * hx, sy * 0.5 * hy, h - 0.03),
                0.03,
                "brown",
                "wood",
            )
    d.cylinder(min(hx, hy), h - 0.05, h, segments=12)
    if d.variant == "bar":
        d.cylinder(0.75 * hx, 0.3 * h, 0.3 * h + 0.02, segments=10, color="gray", material="metal")
    d.surface((-0.6 * hx, -0.6 * hy), (0.6 * hx, 0.6 * hy), h)


@shape("sofa")
def sofa(d: Design) -> None:
    """Build a sofa with seats for `seats` people between two arms; an armchair has one. The front is open."""
    hx, hy, h = d.half
    seat, arm, back = 0.5 * h, min(0.16, 0.28 * hy), 0.24
    d.box((-hx, -hy, 0.05), (hx, hy, 0.3 * h))
    d.box((-hx, -hy, 0.3 * h), (-hx + back, hy, h))
    for side in (-1, 1):
        d.box((-hx, side * hy, 0.3 * h), (hx, side * (hy - arm), 0.74 * h))
        for x in (-hx + 0.05, hx - 0.1):
            d.box((x, side * (hy - 0.05), 0.0), (x + 0.05, side * (hy - 0.1), 0.05), "black", "wood")
    seats = d.number("seats", 2, 1, 5)
    width = 2 * (hy - arm) / seats
    for i in range(seats):
        y = -hy + arm + i * width
        d.box((-hx + back, y + 0.01, 0.3 * h), (hx, y + width - 0.01, seat))
        d.box((-hx + back, y + 0.02, seat), (-hx + back + 0.1, y + width - 0.02, 0.92 * h))
        d.surface((-hx + back + 0.1, y + 0.03), (hx - 0.02, y + width - 0.03), seat)


@shape("bench")
def bench(d: Design) -> None:
    """Build a bench of planks on two trestles; the variant "back" has a back."""
    hx, hy, h = d.half
    seat = h if d.variant != "back" else 0.52 * h
    for side in (-1, 1):
        d.box((-hx, side * (hy - 0.1), 0.0), (hx, side * (hy - 0.15), seat - 0.03), "black", "metal")
    planks = 3
    width = 2 * hx / planks
    for i in range(planks):
        d.box((-hx + i * width + 0.008, -hy, seat - 0.03), (-hx + (i + 1) * width - 0.008, hy, seat))
    if d.variant == "back":
        for z in (0.7, 0.86):
            d.box((-hx, -hy, z * h), (-hx + 0.03, hy, (z + 0.14) * h))
        for side in (-1, 1):
            d.box((-hx, side * (hy - 0.1), seat), (-hx + 0.03, side * (hy - 0.15), h), "black", "metal")
    else:
        d.surface((-hx + 0.02, -hy + 0.05), (hx - 0.02, hy - 0.05), seat)
