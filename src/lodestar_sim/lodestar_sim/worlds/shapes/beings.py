"""Shapes of people, humanoid robots and objects of similar size."""

from __future__ import annotations

import math

from lodestar_sim.worlds.shapes.design import Design, shape


@shape("person")
def person(d: Design) -> None:
    """Build a standing person; the shirt has the object's colour. Option trousers: a colour."""
    hx, hy, h = d.half
    trousers = d.text("trousers", "black")
    for side in (-1, 1):
        d.box((-0.9 * hx, side * 0.08 * hy, 0.0), (hx, side * 0.5 * hy, 0.05 * h), "black", "leather")
        d.box(
            (-0.6 * hx, side * 0.06 * hy, 0.05 * h),
            (0.6 * hx, side * 0.52 * hy, 0.48 * h),
            trousers,
            "fabric",
        )
        d.box((-0.5 * hx, side * 0.72 * hy, 0.45 * h), (0.5 * hx, side * hy, 0.82 * h))
        d.box(
            (-0.35 * hx, side * 0.74 * hy, 0.39 * h),
            (0.35 * hx, side * 0.98 * hy, 0.45 * h),
            "#d8a07c",
            "skin",
        )
    d.box((-0.7 * hx, -0.7 * hy, 0.48 * h), (0.7 * hx, 0.7 * hy, 0.83 * h))
    d.cylinder(0.24 * hy, 0.83 * h, 0.87 * h, segments=6, color="#d8a07c", material="skin")
    d.ellipsoid((0.0, 0.0, 0.93 * h), (0.6 * hx, 0.38 * hy, 0.07 * h), 8, 6, "#d8a07c", "skin")
    d.ellipsoid((-0.12 * hx, 0.0, 0.955 * h), (0.58 * hx, 0.4 * hy, 0.045 * h), 8, 4, "brown", "fabric")


@shape("humanoid")
def humanoid(d: Design) -> None:
    """Build a standing humanoid robot: shells in the object's colour, dark joints and a dark visor."""
    hx, hy, h = d.half
    for side in (-1, 1):
        inner, outer = side * 0.1 * hy, side * 0.5 * hy
        d.box((-0.7 * hx, inner, 0.0), (hx, outer, 0.05 * h), "black", "plastic")
        for z0, z1 in ((0.05, 0.26), (0.3, 0.5)):
            d.box((-0.4 * hx, inner, z0 * h), (0.4 * hx, outer, z1 * h))
        d.box((-0.3 * hx, 0.9 * inner, 0.26 * h), (0.3 * hx, 0.9 * outer, 0.3 * h), "black", "metal")
        for z0, z1 in ((0.44, 0.6), (0.63, 0.8)):
            d.box((-0.35 * hx, side * 0.72 * hy, z0 * h), (0.35 * hx, side * hy, z1 * h))
        for z0, z1 in ((0.38, 0.44), (0.6, 0.63)):  # hand, elbow
            arm = ((-0.3 * hx, side * 0.76 * hy, z0 * h), (0.3 * hx, side * 0.96 * hy, z1 * h))
            d.box(*arm, "black", "metal")
    d.box((-0.5 * hx, -0.5 * hy, 0.5 * h), (0.5 * hx, 0.5 * hy, 0.56 * h), "black", "metal")
    d.box((-hx, -0.7 * hy, 0.56 * h), (0.7 * hx, 0.7 * hy, 0.83 * h))
    d.cylinder(0.2 * hy, 0.83 * h, 0.87 * h, segments=6, color="black", material="metal")
    d.box((-0.6 * hx, -0.35 * hy, 0.87 * h), (0.6 * hx, 0.35 * hy, h))
    d.box((0.6 * hx, -0.3 * hy, 0.9 * h), (0.65 * hx, 0.3 * hy, 0.96 * h), "black", "glass")


@shape("bicycle")
def bicycle(d: Design) -> None:
    """Build a bicycle on its wheels, the handle bar at +x."""
    hx, hy, h = d.half
    r = 0.34 * h
    for side in (-1, 1):
        ring = [(r, -0.02), (r, 0.02), (0.86 * r, 0.02), (0.86 * r, -0.02), (r, -0.02)]
        d.lathe(ring, (side * (hx - r), 0, r), 14, "black", "plastic", axis="y")
    crank, head, seat = (-0.1 * hx, 0, 0.32 * h), (0.5 * hx, 0, 0.78 * h), (-0.3 * hx, 0, 0.84 * h)
    back, front = (-hx + r, 0, r), (hx - r, 0, r)
    for a, b in ((crank, head), (crank, seat), (back, crank), (back, seat), (head, seat), (front, head)):
        d.bar(a, b, 0.035)
    d.bar(head, (0.46 * hx, 0, h - 0.02), 0.03, "gray", "metal")
    d.box((0.44 * hx, -hy, h - 0.03), (0.5 * hx, hy, h), "black", "plastic")
    d.box((-0.45 * hx, -0.25 * hy, 0.84 * h), (-0.15 * hx, 0.25 * hy, 0.9 * h), "black", "leather")


@shape("guitar")
def guitar(d: Design) -> None:
    """Build a guitar upright on its stand."""
    hx, hy, h = d.half
    d.lathe([(0, -0.6 * hx), (hy, -0.6 * hx), (hy, 0.4 * hx), (0, 0.4 * hx)], (0, 0, hy + 0.05), 12, axis="x")
    d.lathe(
        [(0, -0.6 * hx), (0.75 * hy, -0.6 * hx), (0.75 * hy, 0.4 * hx), (0, 0.4 * hx)],
        (0, 0, 2.2 * hy),
        12,
        axis="x",
    )
    d.lathe([(0, 0.4 * hx), (0.25 * hy, 0.42 * hx), (0, 0.44 * hx)], (0, 0, 1.8 * hy), 8, "black", axis="x")
    d.box((0.1 * hx, -0.03, 2.2 * hy), (0.5 * hx, 0.03, 0.92 * h), "brown", "wood")
    d.box((0.0, -0.05, 0.92 * h), (0.4 * hx, 0.05, h), "black", "wood")
    d.box((-hx, -0.6 * hy, 0.0), (hx, 0.6 * hy, 0.05), "black", "metal")


@shape("piano")
def piano(d: Design) -> None:
    """Build an upright piano, its keys towards +x."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (-0.1 * hx, hy, h))
    d.box((-0.1 * hx, -hy, 0.5 * h), (hx, hy, 0.58 * h))
    d.box((0.1 * hx, -0.92 * hy, 0.58 * h), (0.85 * hx, 0.92 * hy, 0.6 * h), "white", "plastic")
    for i in range(10):
        y = -0.85 * hy + i * 0.18 * hy
        d.box((0.1 * hx, y, 0.6 * h), (0.5 * hx, y + 0.05 * hy, 0.62 * h), "black", "plastic")
    for side in (-1, 1):
        d.box((0.7 * hx, side * hy, 0.0), (hx, side * 0.9 * hy, 0.5 * h))


@shape("treadmill")
def treadmill(d: Design) -> None:
    """Build a treadmill with the console at -x."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx, hy, 0.14))
    d.box((-0.7 * hx, -0.7 * hy, 0.14), (hx - 0.05, 0.7 * hy, 0.15), "black", "fabric")
    for side in (-1, 1):
        d.bar(
            (-0.75 * hx, side * 0.85 * hy, 0.14),
            (-0.95 * hx, side * 0.85 * hy, h - 0.05),
            0.07,
            "gray",
            "metal",
        )
        d.box(
            (-0.9 * hx, side * 0.92 * hy, 0.72 * h),
            (-0.3 * hx, side * 0.8 * hy, 0.76 * h),
            "black",
            "plastic",
        )
    d.box((-hx, -0.85 * hy, h - 0.12), (-0.85 * hx, 0.85 * hy, h), "black", "plastic")


@shape("easel")
def easel(d: Design) -> None:
    """Build a flip chart: paper on three legs."""
    hx, hy, h = d.half
    for side in (-1, 1):
        d.bar((0.8 * hx, side * 0.95 * hy, 0.0), (0.0, side * 0.5 * hy, h), 0.035, "gray", "metal")
    d.bar((-hx + 0.02, 0.0, 0.0), (0.0, 0.0, 0.95 * h), 0.035, "gray", "metal")
    pitch = -math.atan2(0.8 * hx, h)
    d.tilted_box((0.36 * hx, 0.0, 0.66 * h), (0.02, 2 * hy, 0.62 * h), pitch, "white", "paper")
    d.tilted_box((0.36 * hx + 0.012, 0.0, 0.8 * h), (0.01, 1.4 * hy, 0.04 * h), pitch)


@shape("vacuum")
def vacuum(d: Design) -> None:
    """Build an upright vacuum cleaner."""
    hx, hy, h = d.half
    d.box((-0.2 * hx, -hy, 0.0), (hx, hy, 0.12 * h), "black", "plastic")
    d.lathe([(0, 0.1 * h), (0.8 * hy, 0.12 * h), (0.8 * hy, 0.5 * h), (0, 0.58 * h)], (-0.2 * hx, 0, 0), 10)
    d.bar((-0.3 * hx, 0.0, 0.55 * h), (-0.8 * hx, 0.0, h - 0.03), 0.04, "gray", "metal")
    d.box((-hx, -0.3 * hy, h - 0.06), (-0.7 * hx, 0.3 * hy, h), "black", "plastic")


@shape("crib")
def crib(d: Design) -> None:
    """Build a cot with bars."""
    hx, hy, h = d.half
    d.legs(0.0, 0.05, h)
    for side in (-1, 1):
        for z in (0.3 * h, 0.95 * h):
            d.box((-hx, side * hy, z), (hx, side * (hy - 0.03), z + 0.04))
            d.box((side * hx, -hy, z), (side * (hx - 0.03), hy, z + 0.04))
        for i in range(6):
            x = -hx + (i + 1) * 2 * hx / 7
            d.box((x - 0.01, side * hy, 0.3 * h), (x + 0.01, side * (hy - 0.02), 0.95 * h))
    d.box((-hx + 0.03, -hy + 0.03, 0.34 * h), (hx - 0.03, hy - 0.03, 0.48 * h), "white", "fabric")


@shape("litter")
def litter(d: Design) -> None:
    """Build a pet bed: a padded ring."""
    hx, _, h = d.half
    d.lathe(
        [
            (0, 0),
            (hx, 0),
            (hx, 0.7 * h),
            (0.9 * hx, h),
            (0.7 * hx, 0.8 * h),
            (0.65 * hx, 0.35 * h),
            (0, 0.35 * h),
        ],
        segments=14,
    )
