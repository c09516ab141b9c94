"""Shapes of kitchen, bathroom and laundry appliances."""

from __future__ import annotations

from lodestar_sim.worlds.shapes.design import Design, shape

_STEEL = ("gray", "metal")


@shape("fridge")
def fridge(d: Design) -> None:
    """Build a fridge with two doors, one above the other, and bar handles."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.03), (hx - 0.06, hy, h))
    d.box((-hx + 0.03, -hy + 0.03, 0.0), (hx - 0.1, hy - 0.03, 0.03), "black", "plastic")
    split = 0.36 * h if d.variant == "low" else 0.64 * h
    for z0, z1 in ((0.05, split - 0.01), (split + 0.01, h - 0.005)):
        d.box((hx - 0.055, -hy + 0.004, z0), (hx - 0.02, hy - 0.004, z1))
        middle = (z0 + z1) / 2
        d.box(
            (hx - 0.02, hy - 0.1, middle - 0.2 * (z1 - z0)),
            (hx, hy - 0.07, middle + 0.2 * (z1 - z0)),
            *_STEEL,
        )


@shape("stove")
def stove(d: Design) -> None:
    """Build a stove: an oven with a window, knobs and four plates."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx - 0.04, hy, h - 0.015))
    d.box((hx - 0.04, -hy + 0.02, 0.12), (hx - 0.02, hy - 0.02, 0.74 * h))
    d.box((hx - 0.02, -hy + 0.08, 0.22), (hx - 0.012, hy - 0.08, 0.62 * h), "black", "glass")
    d.box((hx - 0.02, -hy + 0.06, 0.7 * h), (hx, hy - 0.06, 0.73 * h), *_STEEL)
    for i in range(4):
        y = -hy + (i + 1) * 2 * hy / 5
        d.box((hx - 0.04, y - 0.02, 0.84 * h), (hx - 0.015, y + 0.02, 0.89 * h), "black", "plastic")
    d.box((-hx, -hy, h - 0.015), (hx - 0.02, hy, h - 0.006), "black", "glass")
    for sx in (-1, 1):
        for sy in (-1, 1):
            d.cylinder(
                0.16 * 2 * hy,
                h - 0.006,
                h,
                (sx * 0.45 * hx - 0.01, sy * 0.45 * hy),
                segments=10,
                color="gray",
            )
    d.surface((0.1 * hx, -hy + 0.03), (hx - 0.03, hy - 0.03), h)


@shape("washer")
def washer(d: Design) -> None:
    """Build a front loader with a round window. Variants: washing, drying (larger window), dish (no window)."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx - 0.03, hy, h))
    d.box((hx - 0.03, -hy + 0.01, 0.86 * h), (hx - 0.02, hy - 0.01, 0.99 * h), "gray", "plastic")
    if d.variant == "dish":
        d.box((hx - 0.03, -hy + 0.01, 0.1 * h), (hx - 0.015, hy - 0.01, 0.84 * h))
        d.box((hx - 0.015, -0.7 * hy, 0.76 * h), (hx, 0.7 * hy, 0.79 * h), *_STEEL)
    else:
        r = (0.62 if d.variant == "drying" else 0.52) * hy
        ring = [(r, hx - 0.03), (r, hx - 0.005), (0.8 * r, hx), (0.75 * r, hx - 0.01)]
        d.lathe(ring, (0, 0, 0.45 * h), 14, *_STEEL, axis="x")
        d.lathe([(0.75 * r, hx - 0.01), (0, hx - 0.01)], (0, 0, 0.45 * h), 14, "black", "glass", axis="x")
        d.box((hx - 0.02, -0.85 * hy, 0.89 * h), (hx - 0.01, -0.3 * hy, 0.96 * h), "white", "plastic")
    d.surface((-hx + 0.02, -hy + 0.02), (hx - 0.05, hy - 0.02), h)


@shape("oven")
def oven(d: Design) -> None:
    """Build a small oven or microwave: a window on the left, buttons on the right."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx - 0.015, hy, h))
    d.box((hx - 0.015, -hy + 0.02, 0.08 * h), (hx - 0.005, 0.45 * hy, 0.92 * h), "black", "glass")
    d.box((hx - 0.015, 0.55 * hy, 0.1 * h), (hx - 0.006, 0.92 * hy, 0.9 * h), "gray", "plastic")
    d.box((hx - 0.015, 0.46 * hy, 0.12 * h), (hx, 0.52 * hy, 0.88 * h), *_STEEL)


@shape("toaster")
def toaster(d: Design) -> None:
    """Build a toaster with two slots and a lever."""
    hx, hy, h = d.half
    d.box((-hx + 0.01, -hy, 0.0), (hx - 0.01, hy, h - 0.01))
    for x in (-0.4 * hx, 0.4 * hx):
        d.box((x - 0.012, -0.8 * hy, h - 0.01), (x + 0.012, 0.8 * hy, h), "black", "metal")
    d.box((hx - 0.01, -0.1 * hy, 0.5 * h), (hx, 0.1 * hy, 0.62 * h), "black", "plastic")
    d.box((-hx, -0.9 * hy, 0.0), (hx, 0.9 * hy, 0.06 * h), "black", "plastic")


@shape("coffee")
def coffee(d: Design) -> None:
    """Build a coffee machine: a column with a head over a drip tray."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (0.0, hy, h))
    d.box((0.0, -hy, 0.7 * h), (hx, hy, h))
    d.box((0.0, -hy, 0.0), (hx, hy, 0.08 * h), *_STEEL)
    d.cylinder(0.3 * hx, 0.08 * h, 0.4 * h, (0.5 * hx, 0.0), segments=8, color="white", material="ceramic")
    d.box((0.35 * hx, -0.1 * hy, 0.6 * h), (0.65 * hx, 0.1 * hy, 0.7 * h), *_STEEL)


@shape("sink")
def sink(d: Design) -> None:
    """Build a basin with a tap. Variants: pedestal, vanity (over a cabinet in the object's colour)."""
    hx, hy, h = d.half
    top = 0.86 * h
    if d.variant == "vanity":
        d.box((-hx, -hy + 0.02, 0.0), (hx - 0.03, hy - 0.02, top - 0.12))
        d.box((hx - 0.03, -hy + 0.04, 0.05), (hx - 0.02, -0.01, top - 0.14))
        d.box((hx - 0.03, 0.01, 0.05), (hx - 0.02, hy - 0.04, top - 0.14))
    else:
        d.cylinder(0.3 * hy, 0.0, top - 0.12, segments=8, color="white", material="ceramic")
    for low, high in (
        ((-hx, -hy, top - 0.12), (hx, hy, top - 0.1)),
        ((-hx, -hy, top - 0.1), (-0.6 * hx, hy, top)),
        ((0.85 * hx, -hy, top - 0.1), (hx, hy, top)),
        ((-0.6 * hx, -hy, top - 0.1), (0.85 * hx, -0.8 * hy, top)),
        ((-0.6 * hx, 0.8 * hy, top - 0.1), (0.85 * hx, hy, top)),
    ):
        d.box(low, high, "white", "ceramic")
    d.box((-0.85 * hx, -0.02, top), (-0.75 * hx, 0.02, h), *_STEEL)
    d.box((-0.75 * hx, -0.02, h - 0.03), (-0.1 * hx, 0.02, h), *_STEEL)


@shape("toilet")
def toilet(d: Design) -> None:
    """Build a toilet bowl with a tank behind it; the lid is down."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.5 * h), (-0.45 * hx, hy, h), "white", "ceramic")
    d.box((-0.75 * hx, -0.1 * hy, h - 0.015), (-0.65 * hx, 0.1 * hy, h), *_STEEL)
    d.lathe(
        [(0, 0), (0.55 * hy, 0), (0.5 * hy, 0.2 * h), (0.9 * hy, 0.48 * h), (0, 0.48 * h)],
        (hx - 0.95 * hy, 0, 0), 12, "white", "ceramic",
    )  # fmt: skip
    d.box((-hx + 0.02, -0.6 * hy, 0.0), (hx - hy, 0.6 * hy, 0.5 * h), "white", "ceramic")
    d.cylinder(0.95 * hy, 0.48 * h, 0.53 * h, (hx - 0.95 * hy, 0.0), segments=14)


@shape("bathtub")
def bathtub(d: Design) -> None:
    """Build an open tub with a tap; its apron has the object's colour."""
    hx, hy, h = d.half
    t, tap = 0.08, 0.8 * h
    d.box((-hx + t, -hy + t, 0.0), (hx - t, hy - t, 0.12), "white", "ceramic")
    for low, high in (
        ((-hx, -hy, 0.0), (hx, -hy + t, tap)),
        ((-hx, hy - t, 0.0), (hx, hy, tap)),
        ((-hx, -hy + t, 0.0), (-hx + t, hy - t, tap)),
        ((hx - t, -hy + t, 0.0), (hx, hy - t, tap)),
    ):
        d.box(low, high)
    for low, high in (
        ((-hx, -hy, tap), (hx, -hy + t, tap + 0.015)),
        ((-hx, hy - t, tap), (hx, hy, tap + 0.015)),
    ):
        d.box(low, high, "white", "ceramic")
    d.box((-0.03, -hy + 0.02, tap), (0.03, -hy + 0.06, h), *_STEEL)
    d.box((-0.02, -hy + 0.06, h - 0.04), (0.02, -hy + 0.2, h), *_STEEL)


@shape("shower")
def shower(d: Design) -> None:
    """Build a shower: a tray with glass on two sides, a pole and a head; the front is open."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx, hy, 0.08), "white", "ceramic")
    for side in (-1, 1):
        d.box((-hx, side * hy, 0.08), (hx, side * (hy - 0.02), 0.92 * h))
    d.box((-hx, -hy, 0.08), (-hx + 0.02, hy, h))
    d.box((-hx + 0.03, -0.015, 0.9), (-hx + 0.06, 0.015, 0.95 * h), *_STEEL)
    d.box((-hx + 0.03, -0.08, 0.93 * h), (-0.2 * hx, 0.08, 0.95 * h), *_STEEL)


@shape("radiator")
def radiator(d: Design) -> None:
    """Build a radiator: ribs between two pipes."""
    hx, hy, h = d.half
    ribs = d.number("ribs", 8, 3, 12)
    for i in range(ribs):
        y = -hy + (i + 0.5) * 2 * hy / ribs
        d.box((-hx, y - 0.35 * 2 * hy / ribs, 0.0), (hx, y + 0.35 * 2 * hy / ribs, h))
    for z in (0.1 * h, 0.85 * h):
        d.box((-0.4 * hx, -hy, z), (0.4 * hx, hy, z + 0.05 * h))
