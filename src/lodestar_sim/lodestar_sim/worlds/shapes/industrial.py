"""Shapes of warehouse, workshop and corridor equipment."""

from __future__ import annotations

import math

from lodestar_sim.worlds.shapes.design import Design, shape

_STEEL = ("gray", "metal")


@shape("pallet")
def pallet(d: Design) -> None:
    """Build a pallet. Option load (0 or 1): a wrapped block of goods in the object's colour."""
    hx, hy, h = d.half
    load = d.number("load", 0, 0, 1)
    deck = 0.144 if load else h
    for y in (-hy + 0.07, 0.0, hy - 0.07):
        d.box((-hx, y - 0.07, 0.0), (hx, y + 0.07, 0.65 * deck), "beige", "wood")
    for i in range(5):
        x = -hx + i * 2 * hx / 5
        d.box((x + 0.01, -hy, 0.65 * deck), (x + 2 * hx / 5 - 0.01, hy, deck), "beige", "wood")
    if load:
        d.box((-hx + 0.04, -hy + 0.04, deck), (hx - 0.04, hy - 0.04, h))
        d.box(
            (-hx + 0.035, -hy + 0.035, deck + 0.4 * (h - deck)),
            (hx - 0.035, hy - 0.035, deck + 0.46 * (h - deck)),
            "white",
        )
    d.surface((-hx + 0.05, -hy + 0.05), (hx - 0.05, hy - 0.05), h)


@shape("forklift")
def forklift(d: Design) -> None:
    """Build a forklift with its forks towards +x."""
    hx, hy, h = d.half
    for x in (-0.75 * hx, 0.2 * hx):
        for side in (-1, 1):
            d.lathe(
                [(0, -0.08), (0.26, -0.08), (0.26, 0.08), (0, 0.08)],
                (x, side * (hy - 0.1), 0.26),
                10,
                "black",
                "plastic",
                axis="y",
            )
    d.box((-hx, -0.85 * hy, 0.2), (0.4 * hx, 0.85 * hy, 0.45 * h))
    d.box((-hx, -0.8 * hy, 0.45 * h), (-0.55 * hx, 0.8 * hy, 0.55 * h), "black", "metal")
    d.box((-0.35 * hx, -0.4 * hy, 0.45 * h), (-0.05 * hx, 0.4 * hy, 0.5 * h), "black", "leather")
    for x in (-0.6 * hx, 0.3 * hx):
        for side in (-1, 1):
            d.box((x, side * 0.8 * hy, 0.45 * h), (x + 0.06, side * 0.7 * hy, 0.96 * h), "black", "metal")
    d.box((-0.6 * hx, -0.8 * hy, 0.96 * h), (0.33 * hx, 0.8 * hy, h), "black", "metal")
    for side in (-1, 1):
        d.box((0.42 * hx, side * 0.5 * hy, 0.05), (0.5 * hx, side * 0.4 * hy, 0.95 * h), *_STEEL)
        d.box((0.5 * hx, side * 0.6 * hy, 0.05), (hx, side * 0.35 * hy, 0.1), *_STEEL)
    d.box((0.48 * hx, -0.7 * hy, 0.1), (0.53 * hx, 0.7 * hy, 0.5), *_STEEL)


@shape("jack")
def jack(d: Design) -> None:
    """Build a pallet jack: two forks and a tiller."""
    hx, hy, h = d.half
    for side in (-1, 1):
        d.box((-0.6 * hx, side * hy, 0.05), (hx, side * (hy - 0.16), 0.1))
        d.box((0.8 * hx, side * (hy - 0.04), 0.0), (0.9 * hx, side * (hy - 0.12), 0.05), "black", "plastic")
    d.box((-0.85 * hx, -0.7 * hy, 0.05), (-0.6 * hx, 0.7 * hy, 0.45 * h))
    d.bar((-0.8 * hx, 0.0, 0.4 * h), (-hx, 0.0, h - 0.04), 0.05)
    d.box((-hx - 0.02, -0.5 * hy, h - 0.06), (-hx + 0.04, 0.5 * hy, h), "black", "plastic")
    d.box((-0.8 * hx, -0.1, 0.0), (-0.65 * hx, 0.1, 0.1), "black", "plastic")


@shape("truck")
def truck(d: Design) -> None:
    """Build an upright two-wheeled hand truck."""
    hx, hy, h = d.half
    for side in (-1, 1):
        d.box((-0.5 * hx, side * 0.8 * hy, 0.02), (-0.38 * hx, side * 0.66 * hy, h))
        d.lathe(
            [(0, -0.03), (0.12, -0.03), (0.12, 0.03), (0, 0.03)],
            (-0.6 * hx, side * (hy - 0.04), 0.12),
            10,
            "black",
            "plastic",
            axis="y",
        )
    for z in (0.3, 0.6, 0.97):
        d.box((-0.5 * hx, -0.66 * hy, z * h), (-0.38 * hx, 0.66 * hy, z * h + 0.03))
    d.box((-0.4 * hx, -0.8 * hy, 0.0), (hx, 0.8 * hy, 0.02))


@shape("ladder")
def ladder(d: Design) -> None:
    """Build an open step ladder."""
    hx, hy, h = d.half
    for side in (-1, 1):
        d.bar((hx - 0.03, side * (hy - 0.03), 0.0), (0.1 * hx, side * 0.6 * hy, h), 0.05)
        d.bar((-hx + 0.03, side * (hy - 0.03), 0.0), (-0.1 * hx, side * 0.6 * hy, h), 0.04, *_STEEL)
    for i in range(1, 5):
        share = i / 5
        x, y = hx - 0.03 - share * 0.9 * hx, hy - 0.03 - share * 0.4 * hy
        d.box((x - 0.05, -y, share * h - 0.015), (x + 0.03, y, share * h + 0.015), *_STEEL)
    d.box((-0.15 * hx, -0.6 * hy, h - 0.04), (0.2 * hx, 0.6 * hy, h))


@shape("sign")
def sign(d: Design) -> None:
    """Build an A-frame sign that warns of a wet floor."""
    hx, hy, h = d.half
    for side in (-1, 1):
        d.tilted_box((side * 0.5 * hx, 0.0, h / 2), (0.02, 2 * hy, h), -side * math.atan2(hx, h))
        d.tilted_box(
            (side * 0.53 * hx, 0.0, 0.55 * h),
            (0.02, 1.3 * hy, 0.3 * h),
            -side * math.atan2(hx, h),
            "black",
            "paper",
        )


@shape("reel")
def reel(d: Design) -> None:
    """Build a cable reel on its side rims."""
    hx, hy, h = d.half
    r = min(hx, h / 2)
    profile = [
        (0, -hy),
        (r, -hy),
        (r, -0.85 * hy),
        (0.5 * r, -0.85 * hy),
        (0.5 * r, 0.85 * hy),
        (r, 0.85 * hy),
        (r, hy),
        (0, hy),
    ]
    d.lathe(profile, (0, 0, r), 14, axis="y")


@shape("conveyor")
def conveyor(d: Design) -> None:
    """Build a conveyor: a belt on legs along y."""
    hx, hy, h = d.half
    d.legs(0.05, 0.06, h - 0.12, *_STEEL)
    d.box((-hx, -hy, h - 0.12), (-hx + 0.05, hy, h))
    d.box((hx - 0.05, -hy, h - 0.12), (hx, hy, h))
    d.box((-hx + 0.05, -hy, h - 0.09), (hx - 0.05, hy, h - 0.03), "black", "fabric")
    d.surface((-hx + 0.07, -hy + 0.1), (hx - 0.06, hy - 0.1), h - 0.03)


@shape("generator")
def generator(d: Design) -> None:
    """Build a generator: an engine in a tube frame."""
    hx, hy, h = d.half
    for x in (-hx, hx - 0.04):
        for y in (-hy, hy - 0.04):
            d.box((x, y, 0.0), (x + 0.04, y + 0.04, h), "black", "metal")
    for y in (-hy, hy - 0.04):
        d.box((-hx, y, h - 0.04), (hx, y + 0.04, h), "black", "metal")
    d.box((-0.9 * hx, -0.9 * hy, 0.08), (0.9 * hx, 0.9 * hy, 0.55 * h))
    d.box((-0.8 * hx, -0.8 * hy, 0.6 * h), (0.8 * hx, 0.8 * hy, 0.92 * h))
    d.box((0.9 * hx, -0.6 * hy, 0.2 * h), (hx, 0.2 * hy, 0.5 * h), "gray", "metal")


@shape("cart")
def cart(d: Design) -> None:
    """Build a cart: two trays on wheels. Variants: service, cleaning (with a bucket and a mop)."""
    hx, hy, h = d.half
    for sx in (-1, 1):
        for sy in (-1, 1):
            x, y = sx * (hx - 0.02), sy * (hy - 0.02)
            d.box((x, y, 0.08), (x - sx * 0.03, y - sy * 0.03, h), *_STEEL)
            d.box((x, y, 0.0), (x - sx * 0.05, y - sy * 0.05, 0.08), "black", "plastic")
    top = 0.85 * h
    for z in (0.2 * h, top):
        d.box((-hx, -hy, z), (hx, hy, z + 0.03))
    if d.variant == "cleaning":
        d.lathe(
            [(0, 0), (0.1, 0), (0.13, 0.25), (0, 0.25)],
            (0, -0.5 * hy, 0.2 * h + 0.03),
            10,
            "yellow",
            "plastic",
        )
        d.bar((0.0, 0.6 * hy, top), (0.0, 0.8 * hy, h + 0.25), 0.03, "brown", "wood")
    else:
        d.surface((-hx + 0.05, -hy + 0.05), (hx - 0.02, hy - 0.05), top + 0.03)
