"""Shapes of tables, desks, counters and workbenches."""

from __future__ import annotations

from lodestar_sim.worlds.shapes.design import Design, shape


@shape("table")
def table(d: Design) -> None:
    """Build a table. Variants: square (four legs), round (one foot), trestle (two side frames), glass (glass top)."""
    hx, hy, h = d.half
    if d.variant == "round":
        d.cylinder(0.3 * hx * 2, 0.0, 0.03, segments=12, color="black", material="metal")
        d.cylinder(0.05, 0.03, h - 0.04, segments=8, color="black", material="metal")
        d.cylinder(min(hx, hy), h - 0.04, h, segments=18)
        d.surface((-0.66 * hx, -0.66 * hy), (0.66 * hx, 0.66 * hy), h)
        return
    if d.variant == "trestle":
        for side in (-1, 1):
            y = side * (hy - 0.12)
            d.box((-hx + 0.06, y, 0.0), (hx - 0.06, y - side * 0.06, 0.05))
            d.box((-0.04, y, 0.05), (0.04, y - side * 0.06, h - 0.04))
        d.box((-0.02, -hy + 0.15, 0.4 * h), (0.02, hy - 0.15, 0.4 * h + 0.08))
    else:
        d.legs(0.02, 0.06 if h > 0.6 else 0.05, h - 0.04, "black" if d.variant == "glass" else "")
    d.box((-hx, -hy, h - 0.04), (hx, hy, h), "", "glass" if d.variant == "glass" else "")
    d.surface((-hx + 0.01, -hy + 0.01), (hx - 0.01, hy - 0.01), h)


@shape("desk")
def desk(d: Design) -> None:
    """Build a desk whose user sits on the +x side. Variants: drawers, plain, standing."""
    hx, hy, h = d.half
    top = 0.035
    if d.variant == "drawers":
        width = min(0.42, 0.7 * hy)
        d.box((-hx + 0.03, hy - width, 0.03), (hx - 0.05, hy - 0.02, h - top))
        for i in range(3):
            z = 0.06 + i * (h - 0.12) / 3
            d.box(
                (hx - 0.05, hy - width + 0.02, z), (hx - 0.035, hy - 0.04, z + (h - 0.12) / 3 - 0.02), "beige"
            )
        d.box((-hx + 0.03, -hy + 0.02, 0.0), (hx - 0.05, -hy + 0.05, h - top))
        d.box((-hx + 0.03, -hy + 0.05, 0.35 * h), (-hx + 0.05, hy - width, h - top))
    else:
        for side in (-1, 1):
            y = side * (hy - 0.12)
            d.box((-hx + 0.05, y, 0.0), (hx - 0.05, y - side * 0.07, 0.04), "gray", "metal")
            d.box((-0.05, y, 0.04), (0.05, y - side * 0.07, h - top), "gray", "metal")
        if d.variant == "standing":
            d.box((-0.03, -hy + 0.19, h - top - 0.08), (0.03, hy - 0.19, h - top - 0.02), "gray", "metal")
    d.box((-hx, -hy, h - top), (hx, hy, h))
    d.surface((-hx + 0.01, -hy + 0.01), (hx - 0.01, hy - 0.01), h)


@shape("counter")
def counter(d: Design) -> None:
    """Build a closed kitchen counter with `doors` doors and a worktop. Variant "sink": a basin with a tap."""
    hx, hy, h = d.half
    d.box((-hx, -hy + 0.01, 0.08), (hx - 0.04, hy - 0.01, h - 0.04))
    d.box((-hx, -hy + 0.03, 0.0), (hx - 0.09, hy - 0.03, 0.08), "black", "plastic")
    doors = d.number("doors", 2, 1, 8)
    width = 2 * hy / doors
    for i in range(doors):
        y = -hy + i * width
        d.box((hx - 0.04, y + 0.015, 0.1), (hx - 0.02, y + width - 0.015, h - 0.08))
        d.box(
            (hx - 0.02, y + width - 0.1, 0.6 * h), (hx - 0.005, y + width - 0.07, 0.78 * h), "gray", "metal"
        )
    top = "gray" if d.text("top", "stone") == "stone" else "beige"
    d.box((-hx, -hy, h - 0.04), (hx, hy, h), top, "concrete")
    if d.variant == "sink":
        d.surface((-hx + 0.05, 0.35 * hy), (hx - 0.02, hy - 0.02), h)
    else:
        d.surface((-hx + 0.02, -hy + 0.02), (hx - 0.02, hy - 0.02), h)


@shape("workbench")
def workbench(d: Design) -> None:
    """Build a heavy bench with a lower board."""
    hx, hy, h = d.half
    d.legs(0.0, 0.08, h - 0.06, "gray", "metal")
    d.box((-hx + 0.02, -hy + 0.02, 0.2), (hx - 0.02, hy - 0.02, 0.23), "gray", "metal")
    d.box((-hx, -hy, h - 0.06), (hx, hy, h))
    d.surface((-hx + 0.01, -hy + 0.01), (hx - 0.01, hy - 0.01), h)
    d.surface((-hx + 0.1, -hy + 0.1), (hx - 0.05, hy - 0.1), 0.23, h - 0.06 - 0.23, True)
