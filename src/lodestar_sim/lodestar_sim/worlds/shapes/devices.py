"""Shapes of screens, computers, printers and office machines."""

from __future__ import annotations

from lodestar_sim.worlds.shapes.design import Design, shape


@shape("screen")
def screen(d: Design) -> None:
    """Build a flat screen. Variants: stand (on a foot), wall (without a foot)."""
    hx, hy, h = d.half
    low = 0.0 if d.variant == "wall" else 0.22 * h
    thick = hx if d.variant == "wall" else min(0.025, hx)
    d.box((-thick, -hy, low), (0.9 * thick, hy, h))
    d.box((0.9 * thick, -hy + 0.015, low + 0.02), (thick, hy - 0.015, h - 0.015), "#182838", "screen")
    if d.variant != "wall":
        d.box((-hx, -0.4 * hy, 0.0), (hx, 0.4 * hy, 0.03 * h))
        d.box((-0.02, -0.04, 0.03 * h), (0.0, 0.04, low + 0.05 * h))


@shape("laptop")
def laptop(d: Design) -> None:
    """Build an open laptop, its screen leaning back."""
    hx, hy, h = d.half
    d.box((-0.7 * hx, -hy, 0.0), (hx, hy, 0.02))
    d.box((-0.4 * hx, -0.9 * hy, 0.02), (0.5 * hx, 0.9 * hy, 0.023), "black", "plastic")
    d.tilted_box((-0.85 * hx, 0, h / 2), (0.012, 2 * hy, h), -0.25)
    d.tilted_box(
        (-0.85 * hx + 0.01, 0, h / 2 + 0.005), (0.004, 1.85 * hy, 0.86 * h), -0.25, "#28486a", "screen"
    )


@shape("keyboard")
def keyboard(d: Design) -> None:
    """Build a keyboard with four rows of keys."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx, hy, 0.6 * h))
    for i in range(4):
        x = -hx + 0.1 * hx + i * 0.45 * hx
        d.box((x, -0.95 * hy, 0.6 * h), (x + 0.38 * hx, 0.95 * hy, h), "gray", "plastic")


@shape("tower")
def tower(d: Design) -> None:
    """Build a computer case with a dark front."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx - 0.02, hy, h))
    d.box((hx - 0.02, -hy, 0.0), (hx, hy, h), "black", "plastic")
    d.box((hx - 0.002, -0.6 * hy, 0.78 * h), (hx + 0.002, 0.6 * hy, 0.82 * h), "gray", "metal")
    d.box((hx - 0.002, -0.1 * hy, 0.88 * h), (hx + 0.002, 0.1 * hy, 0.92 * h), "blue", "plastic")


@shape("printer")
def printer(d: Design) -> None:
    """Build a printer. Variants: desktop, floor (a copier on paper drawers)."""
    hx, hy, h = d.half
    base = 0.0
    if d.variant == "floor":
        base = 0.55 * h
        for i in range(3):
            d.box((-hx, -hy, i * base / 3), (hx, hy, (i + 1) * base / 3 - 0.015), "gray", "plastic")
    d.box((-hx, -hy, base), (0.7 * hx, hy, base + 0.7 * (h - base)))
    d.box(
        (0.7 * hx, -0.8 * hy, base + 0.1 * (h - base)),
        (hx, 0.8 * hy, base + 0.16 * (h - base)),
        "gray",
        "plastic",
    )
    d.box(
        (0.62 * hx, -0.75 * hy, base + 0.3 * (h - base)),
        (0.71 * hx, 0.75 * hy, base + 0.5 * (h - base)),
        "black",
    )
    d.box((-hx, -hy, base + 0.72 * (h - base)), (0.6 * hx, hy, base + 0.9 * (h - base)))
    d.box((-0.8 * hx, -0.7 * hy, base + 0.9 * (h - base)), (0.1 * hx, 0.7 * hy, h), "black", "plastic")
    d.box(
        (0.5 * hx, 0.5 * hy, base + 0.9 * (h - base)),
        (0.65 * hx, 0.9 * hy, base + 0.95 * (h - base)),
        "blue",
        "screen",
    )


@shape("server")
def server(d: Design) -> None:
    """Build a rack cabinet full of servers with lights."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx - 0.04, hy, h))
    for i in range(8):
        z = 0.08 * h + i * 0.11 * h
        d.box((hx - 0.04, -hy + 0.04, z), (hx - 0.015, hy - 0.04, z + 0.085 * h), "gray", "metal")
        d.box((hx - 0.015, -0.7 * hy, z + 0.03 * h), (hx - 0.01, -0.6 * hy, z + 0.05 * h), "green", "plastic")
    for side in (-1, 1):
        d.box((hx - 0.04, side * hy, 0.0), (hx, side * (hy - 0.03), h))


@shape("vending")
def vending(d: Design) -> None:
    """Build a vending machine with a lit window of rows of goods."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx - 0.02, hy, h))
    d.box((hx - 0.02, -0.92 * hy, 0.3 * h), (hx - 0.014, 0.5 * hy, 0.95 * h), "#20303c", "glass")
    for i, color in enumerate(("orange", "green", "yellow", "purple")):
        z = 0.36 * h + i * 0.14 * h
        d.box((hx - 0.014, -0.85 * hy, z), (hx - 0.008, 0.43 * hy, z + 0.07 * h), color, "paper")
    d.box((hx - 0.02, 0.6 * hy, 0.5 * h), (hx - 0.005, 0.9 * hy, 0.8 * h), "gray", "metal")
    d.box((hx - 0.02, -0.8 * hy, 0.1 * h), (hx, 0.4 * hy, 0.22 * h), "black", "plastic")


@shape("cooler")
def cooler(d: Design) -> None:
    """Build a water cooler with a bottle on top."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx - 0.03, hy, 0.68 * h))
    d.box((hx - 0.03, -0.8 * hy, 0.4 * h), (hx, 0.8 * hy, 0.42 * h), "gray", "plastic")
    for y, color in ((-0.35 * hy, "blue"), (0.35 * hy, "red")):
        d.box((hx - 0.03, y - 0.02, 0.54 * h), (hx - 0.005, y + 0.02, 0.58 * h), color, "plastic")
    r = 0.9 * min(hx, hy)
    d.lathe(
        [(0.4 * r, 0.68 * h), (r, 0.74 * h), (r, 0.97 * h), (0.8 * r, h), (0, h)],
        segments=12,
        color="blue",
        material="water",
    )


@shape("speaker")
def speaker(d: Design) -> None:
    """Build a speaker: a box with two cones."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx - 0.01, hy, h))
    for z, r in ((0.35 * h, 0.7 * hy), (0.78 * h, 0.4 * hy)):
        d.lathe(
            [(r, hx - 0.01), (0.9 * r, hx), (0.3 * r, hx - 0.03), (0, hx - 0.02)],
            (0, 0, z),
            10,
            "gray",
            "plastic",
            axis="x",
        )


@shape("fan")
def fan(d: Design) -> None:
    """Build a standing fan."""
    hx, hy, h = d.half
    d.cylinder(0.8 * min(hx, hy), 0.0, 0.03, segments=10)
    d.cylinder(0.025, 0.03, h - hy, segments=6, color="gray", material="metal")
    d.lathe(
        [(0, -0.08), (0.2 * hy, -0.08), (hy, -0.02), (hy, 0.04), (0, 0.06)], (0.0, 0.0, h - hy), 14, axis="x"
    )


@shape("kiosk")
def kiosk(d: Design) -> None:
    """Build a low dock with two contacts and a light: the charging station."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (-0.2 * hx, hy, h))
    d.box((-0.2 * hx, -hy, 0.0), (hx, hy, 0.12 * h), "black", "plastic")
    for side in (-1, 1):
        d.box((-0.2 * hx, side * 0.4 * hy, 0.3 * h), (-0.1 * hx, side * 0.6 * hy, 0.4 * h), "orange", "metal")
    d.box((-0.2 * hx, -0.3 * hy, 0.7 * h), (-0.15 * hx, 0.3 * hy, 0.85 * h), "green", "plastic")
