"""Shapes of portable objects."""

from __future__ import annotations

from lodestar_sim.worlds.shapes.design import Design, shape


@shape("box")
def box(d: Design) -> None:
    """Build a box. Variants: carton (taped), crate (slatted, open), plain, tote (plastic with a lid)."""
    hx, hy, h = d.half
    if d.variant == "crate":
        t = min(0.02, 0.2 * hx)
        d.box((-hx, -hy, 0.0), (hx, hy, t))
        for i in range(3):
            z0, z1 = h * (i / 3 + 0.03), h * ((i + 1) / 3)
            for side in (-1, 1):
                d.box((side * hx, -hy, z0), (side * (hx - t), hy, z1))
                d.box((-hx + t, side * hy, z0), (hx - t, side * (hy - t), z1))
        return
    d.box((-hx, -hy, 0.0), (hx, hy, h))
    if d.variant == "carton":
        d.box((-hx, -0.1 * hy, h - 0.002), (hx, 0.1 * hy, h + 0.001), "beige", "plastic")
        d.box((hx - 0.001, 0.3 * hy, 0.3 * h), (hx + 0.001, 0.8 * hy, 0.7 * h), "white", "paper")
    elif d.variant == "tote":
        d.box((-hx - 0.01, -hy - 0.01, 0.88 * h), (hx + 0.01, hy + 0.01, h), "black", "plastic")
    d.surface((-hx + 0.02, -hy + 0.02), (hx - 0.02, hy - 0.02), h)


@shape("book")
def book(d: Design) -> None:
    """Build a book. Variants: standing (its spine to the front), lying."""
    hx, hy, h = d.half
    if d.variant == "lying":
        d.box((-hx, -hy, 0.0), (hx, hy, 0.1 * h))
        d.box((-hx, -hy, 0.9 * h), (hx, hy, h))
        d.box((-hx, -hy, 0.1 * h), (-0.9 * hx, hy, 0.9 * h))
        d.box((-0.9 * hx, -0.95 * hy, 0.1 * h), (0.95 * hx, 0.95 * hy, 0.9 * h), "white", "paper")
    else:
        for side in (-1, 1):
            d.box((-hx, side * hy, 0.0), (hx, side * 0.8 * hy, h))
        d.box((0.94 * hx, -0.8 * hy, 0.0), (hx, 0.8 * hy, h))
        d.box((-0.95 * hx, -0.8 * hy, 0.02 * h), (0.94 * hx, 0.8 * hy, 0.97 * h), "white", "paper")


@shape("books")
def books(d: Design) -> None:
    """Build a row of books of different heights; most have the object's colour."""
    hx, hy, h = d.half
    count = d.number("count", 6, 2, 10)
    width = 2 * hy / count
    others = ("blue", "", "green", "", "brown", "", "black", "", "red", "")
    for i in range(count):
        top = h * (1.0 - 0.07 * (i * 7 % 4))
        d.box((-hx, -hy + i * width + 0.001, 0.0), (hx, -hy + (i + 1) * width - 0.001, top), others[i])


@shape("backpack")
def backpack(d: Design) -> None:
    """Build an upright backpack, with a front pocket and two straps."""
    hx, hy, h = d.half
    d.box((-0.6 * hx, -hy, 0.0), (0.4 * hx, hy, 0.82 * h))
    d.tilted_box((-0.1 * hx, 0.0, 0.86 * h), (0.75 * hx, 1.7 * hy, 0.2 * h), 0.0)
    d.box((0.4 * hx, -0.75 * hy, 0.06 * h), (hx, 0.75 * hy, 0.5 * h))
    d.box((0.4 * hx, -0.75 * hy, 0.46 * h), (hx + 0.004, 0.75 * hy, 0.5 * h), "black", "fabric")
    for side in (-1, 1):
        d.box((-hx, side * 0.5 * hy, 0.1 * h), (-0.8 * hx, side * 0.72 * hy, 0.85 * h), "black", "fabric")
        d.box(
            (-0.8 * hx, side * 0.5 * hy, 0.8 * h), (-0.5 * hx, side * 0.72 * hy, 0.85 * h), "black", "fabric"
        )
        d.box(
            (-0.8 * hx, side * 0.5 * hy, 0.1 * h), (-0.5 * hx, side * 0.72 * hy, 0.15 * h), "black", "fabric"
        )
    d.box((-0.2 * hx, -0.2 * hy, 0.96 * h), (0.0, 0.2 * hy, h), "black", "fabric")


@shape("suitcase")
def suitcase(d: Design) -> None:
    """Build an upright suitcase on wheels, its handle extended."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.06), (hx, hy, 0.8 * h))
    for i in range(4):
        y = -0.75 * hy + i * 0.5 * hy
        d.box((hx - 0.001, y - 0.02, 0.12), (hx + 0.012, y + 0.02, 0.74 * h))
    for side in (-1, 1):
        d.box((-0.6 * hx, side * 0.8 * hy, 0.0), (0.6 * hx, side * 0.6 * hy, 0.06), "black", "plastic")
        d.box((-0.4 * hx, side * 0.5 * hy, 0.8 * h), (-0.2 * hx, side * 0.42 * hy, h), "gray", "metal")
    d.box((-0.4 * hx, -0.5 * hy, h - 0.03), (-0.2 * hx, 0.5 * hy, h), "black", "plastic")


@shape("bear")
def bear(d: Design) -> None:
    """Build a sitting teddy bear."""
    hx, hy, h = d.half
    d.ellipsoid((-0.2 * hx, 0, 0.32 * h), (0.7 * hx, 0.65 * hy, 0.32 * h), 8, 5)
    d.ellipsoid((-0.1 * hx, 0, 0.72 * h), (0.62 * hx, 0.58 * hy, 0.22 * h), 8, 5)
    for side in (-1, 1):
        d.ellipsoid((-0.1 * hx, side * 0.48 * hy, 0.93 * h), (0.2 * hx, 0.2 * hy, 0.08 * h), 6, 4)
        d.ellipsoid((0.5 * hx, side * 0.5 * hy, 0.12 * h), (0.5 * hx, 0.25 * hy, 0.12 * h), 6, 4)
        d.ellipsoid((0.1 * hx, side * 0.75 * hy, 0.45 * h), (0.25 * hx, 0.25 * hy, 0.15 * h), 6, 4)
    d.ellipsoid((0.5 * hx, 0, 0.68 * h), (0.15 * hx, 0.2 * hy, 0.07 * h), 6, 4, "beige", "fabric")


@shape("ball")
def ball(d: Design) -> None:
    """Build a ball."""
    hx, hy, h = d.half
    d.ellipsoid((0, 0, h / 2), (hx, hy, h / 2), 12, 7)


@shape("basket")
def basket(d: Design) -> None:
    """Build an open basket with handles; variant full: with laundry."""
    hx, hy, h = d.half
    t = 0.02
    d.box((-hx, -hy, 0.0), (hx, hy, 0.02))
    for side in (-1, 1):
        d.box((side * hx, -hy, 0.02), (side * (hx - t), hy, h))
        d.box((-hx + t, side * hy, 0.02), (hx - t, side * (hy - t), h))
    if d.variant == "full":
        d.ellipsoid((0, 0, 0.8 * h), (hx - t, hy - t, 0.18 * h), 8, 4, "white", "fabric")


@shape("shoes")
def shoes(d: Design) -> None:
    """Build a pair of shoes."""
    hx, hy, h = d.half
    for side in (-1, 1):
        y0, y1 = side * hy, side * 0.12 * hy
        d.box((-hx, y0, 0.0), (hx, y1, 0.25 * h), "white", "plastic")
        d.box((-hx, y0, 0.25 * h), (0.9 * hx, y1, 0.6 * h))
        d.box((-hx, y0, 0.6 * h), (0.1 * hx, y1, h))


@shape("pillow")
def pillow(d: Design) -> None:
    """Build a cushion, or a folded blanket."""
    hx, hy, h = d.half
    d.ellipsoid((0, 0, h / 2), (1.2 * hx, 1.2 * hy, h / 2), 8, 5)


@shape("bag")
def bag(d: Design) -> None:
    """Build a hand bag: two handles over an open top."""
    hx, hy, h = d.half
    d.box((-0.7 * hx, -0.9 * hy, 0.0), (0.7 * hx, 0.9 * hy, 0.08 * h))
    d.box((-hx, -hy, 0.08 * h), (hx, hy, 0.62 * h))
    for side in (-1, 1):
        x = side * 0.7 * hx
        for y in (-0.5 * hy, 0.5 * hy):
            d.bar((x, y, 0.62 * h), (x, 0.7 * y, h - 0.02), 0.02, "black", "leather")
        d.box((x - 0.01, -0.4 * hy, h - 0.02), (x + 0.01, 0.4 * hy, h), "black", "leather")


@shape("phone")
def phone(d: Design) -> None:
    """Build a desk telephone: a sloped body, a screen and a receiver."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx, hy, 0.4 * h))
    d.box((-hx, -hy, 0.4 * h), (0.0, hy, 0.7 * h))
    d.box((-0.6 * hx, 0.1 * hy, 0.7 * h), (-0.1 * hx, 0.8 * hy, 0.75 * h), "green", "screen")
    d.box((-0.9 * hx, -0.85 * hy, 0.7 * h), (0.9 * hx, -0.45 * hy, h))


@shape("helmet")
def helmet(d: Design) -> None:
    """Build a hard hat with a brim."""
    h = d.size[2]
    d.lathe([(1.0, 0.12 * h), (0.95, 0.5 * h), (0.6, 0.9 * h), (0, h)], segments=10)
    d.box((-1.0, -1.0, 0.0), (1.25, 1.0, 0.12 * h))


@shape("toolbox")
def toolbox(d: Design) -> None:
    """Build a toolbox: a case with a lid and a handle."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (hx, hy, 0.6 * h))
    d.box((-0.9 * hx, -0.97 * hy, 0.6 * h), (0.9 * hx, 0.97 * hy, 0.78 * h), "black", "plastic")
    for side in (-1, 1):
        d.box((-0.1 * hx, side * 0.6 * hy, 0.78 * h), (0.1 * hx, side * 0.5 * hy, 0.95 * h), "gray", "metal")
    d.box((-0.12 * hx, -0.6 * hy, 0.92 * h), (0.12 * hx, 0.6 * hy, h), "gray", "metal")
