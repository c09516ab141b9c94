"""Surfaces of revolution: mugs, bottles, bins, barrels, cones."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lodestar_sim.worlds.shapes.design import Design, shape


@dataclass(frozen=True)
class Turning:
    """Profile of a surface of revolution, in bands of one colour each, from bottom to top.

    bands: (colour, points); "" is the object's own colour. Points: (radius, height), as shares of half the
    object's width and of its height.
    """

    bands: tuple[tuple[str, tuple[tuple[float, float], ...]], ...]
    segments: int = 10


TURNINGS: dict[str, Turning] = {
    "bottle": Turning(
        (
            ("", ((0, 0), (1, 0), (1, 0.62), (0.38, 0.78), (0.38, 0.92))),
            ("white", ((0.42, 0.92), (0.42, 1), (0, 1))),
        ),
        8,
    ),
    "vase": Turning((("", ((0, 0), (0.6, 0), (1, 0.4), (0.45, 0.8), (0.7, 1), (0.5, 0.95), (0, 0.9))),), 10),
    "bowl": Turning((("", ((0, 0), (0.5, 0), (1, 1), (0.9, 1), (0.45, 0.15), (0, 0.15))),), 10),
    "bin": Turning((("", ((0, 0), (0.78, 0), (1, 1), (0.93, 1), (0.72, 0.06), (0, 0.06))),), 12),
    "lidded": Turning(
        (("", ((0, 0), (0.9, 0), (1, 0.86))), ("black", ((1, 0.86), (1, 0.9), (0.6, 1), (0, 1)))), 12
    ),
    "barrel": Turning(
        (
            ("", ((0, 0), (0.95, 0), (0.95, 0.3), (1, 0.33), (0.95, 0.36))),
            (
                "",
                (
                    (0.95, 0.36),
                    (0.95, 0.64),
                    (1, 0.67),
                    (0.95, 0.7),
                    (0.95, 1),
                    (0.9, 1),
                    (0.9, 0.98),
                    (0, 0.98),
                ),
            ),
        ),
        14,
    ),
    "gas": Turning(
        (
            ("", ((0, 0), (1, 0), (1, 0.78), (0.35, 0.9))),
            ("gray", ((0.3, 0.9), (0.3, 0.93), (0.5, 0.93), (0.5, 1), (0, 1))),
        ),
        10,
    ),
    "drum": Turning(
        (("", ((0, 0), (1, 0), (1, 0.1), (0.5, 0.1), (0.5, 0.9), (1, 0.9), (1, 1), (0, 1))),), 16
    ),
    "pot": Turning(
        (
            ("", ((0, 0), (0.95, 0), (1, 0.75))),
            ("gray", ((1, 0.75), (0.9, 0.85), (0.15, 0.9), (0.12, 1), (0, 1))),
        ),
        12,
    ),
    "kettle": Turning(
        (("", ((0, 0), (1, 0), (0.75, 0.8), (0.3, 0.9))), ("black", ((0.2, 0.9), (0.2, 1), (0, 1)))), 10
    ),
    "umbrella": Turning(
        (("", ((0, 0), (0.9, 0), (0.9, 0.05), (0.8, 0.05), (1, 1), (0.92, 1), (0.75, 0.1), (0, 0.1))),), 10
    ),
    "ottoman": Turning((("", ((0, 0), (0.95, 0), (1, 0.5), (0.95, 0.95), (0.8, 1), (0, 1))),), 14),
}


@shape("turned")
def turned(d: Design) -> None:
    """Build the profile of `TURNINGS` that the variant names; a bin for an unknown variant."""
    hx, _, h = d.half
    turning = TURNINGS.get(d.variant, TURNINGS["bin"])
    for color, profile in turning.bands:
        d.lathe([(r * hx, z * h) for r, z in profile], segments=turning.segments, color=color)
    if d.variant == "ottoman":
        d.surface((-0.6 * hx, -0.6 * hx), (0.6 * hx, 0.6 * hx), h)


@shape("mug")
def mug(d: Design) -> None:
    """Build a mug with its handle at the +y side; 44 triangles."""
    hx, hy, h = d.half
    d.lathe([(0, 0), (hx, 0), (hx, h), (0.0, 0.9 * h)], segments=8)
    d.box((-0.008, hx * 0.9, 0.25 * h), (0.008, 2 * hy - hx, 0.75 * h))


@shape("cone")
def cone(d: Design) -> None:
    """Build a traffic cone with white bands on a square foot."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx, hy, 0.05 * h), "black", "plastic")
    rings = ((0.8, 0.05, ""), (0.56, 0.4, "white"), (0.42, 0.6, ""), (0.28, 0.75, "white"), (0.18, 0.88, ""))
    ends = [*rings[1:], (0.1, 1.0, "")]
    for (r0, z0, color), (r1, z1, _) in zip(rings, ends):
        d.lathe([(r0 * hx, z0 * h), (r1 * hx, z1 * h)], segments=10, color=color)
    d.lathe([(0.1 * hx, h), (0.0, h)], segments=10)


@shape("extinguisher")
def extinguisher(d: Design) -> None:
    """Build a fire extinguisher: a cylinder with a black head and a hose."""
    hx, hy, h = d.half
    r = min(0.8 * hx, hy)
    d.lathe([(0, 0), (r, 0), (r, 0.72 * h), (0.4 * r, 0.84 * h), (0, 0.84 * h)], segments=12)
    d.box((-0.3 * r, -0.25 * r, 0.84 * h), (0.3 * r, 0.25 * r, 0.92 * h), "black", "metal")
    d.box((-0.4 * r, -0.12 * r, 0.92 * h), (0.9 * r, 0.12 * r, h), "black", "metal")
    d.bar((0.3 * r, 0.0, 0.88 * h), (hx - 0.02, 0.0, 0.75 * h), 0.03, "black", "plastic")
    d.box((hx - 0.035, -0.02, 0.3 * h), (hx, 0.02, 0.76 * h), "black", "plastic")
    d.box((r * 0.9, -0.5 * r, 0.3 * h), (r * 1.02, 0.5 * r, 0.55 * h), "white", "paper")


@shape("plant")
def plant(d: Design) -> None:
    """Build a plant: leaves in the object's colour over a pot; option pot: its colour. Variants: bush, palm, cactus."""
    hx, hy, h = d.half
    r = min(hx, hy)
    pot = min(0.35 * h, 0.4)
    d.lathe(
        [(0, 0), (0.5 * r, 0), (0.7 * r, pot), (0, pot - 0.02)], segments=10, color=d.text("pot", "white")
    )
    if d.variant == "cactus":
        d.ellipsoid((0, 0, (pot + h) / 2), (0.4 * r, 0.4 * r, (h - pot) / 2 + 0.02), 8, 5, "", "leaf")
        d.ellipsoid((0, 0.6 * r, 0.7 * h), (0.2 * r, 0.4 * r, 0.14 * h), 6, 4, "", "leaf")
        d.ellipsoid((0, -0.6 * r, 0.6 * h), (0.2 * r, 0.4 * r, 0.12 * h), 6, 4, "", "leaf")
    elif d.variant == "palm":
        d.cylinder(0.09 * r, pot - 0.02, 0.7 * h, segments=6, color="brown", material="wood")
        for i in range(6):
            angle = math.tau * i / 6
            x, y = r * math.cos(angle), r * math.sin(angle)
            d.bar((0, 0, 0.7 * h), (0.6 * x, 0.6 * y, h), 0.06, "", "leaf")
            d.bar((0.6 * x, 0.6 * y, h), (x, y, 0.78 * h), 0.05, "", "leaf")
    else:
        for x, y, z, s in (
            (0, 0, 0.78, 0.5),
            (0.35, 0.2, 0.62, 0.36),
            (-0.3, 0.3, 0.66, 0.36),
            (0.05, -0.4, 0.6, 0.36),
        ):
            d.ellipsoid((x * r, y * r, z * h), (s * r * 1.5, s * r * 1.5, 0.22 * h), 7, 4, "", "leaf")


@shape("lamp")
def lamp(d: Design) -> None:
    """Build a lamp: a foot, a stem and a shade in the object's colour. Variants: floor, desk."""
    hx, hy, h = d.half
    r = min(hx, hy)
    d.cylinder(0.75 * r, 0.0, 0.03, segments=10, color="black", material="metal")
    d.cylinder(0.025 if h > 0.8 else 0.015, 0.03, 0.78 * h, segments=6, color="black", material="metal")
    low = 0.72 if d.variant == "floor" else 0.55
    d.lathe([(r, low * h), (0.6 * r, h), (0, h)], segments=12)
    d.lathe([(0.95 * r, low * h + 0.01), (0, low * h + 0.02)], segments=12, color="yellow")
