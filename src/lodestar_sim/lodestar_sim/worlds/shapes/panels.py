"""Shapes of doors and of objects that hang on walls."""

from __future__ import annotations

from lodestar_sim.worlds.shapes.design import Design, shape

_ART = ("red", "blue", "yellow", "green", "orange", "purple", "pink", "white")


@shape("picture")
def picture(d: Design) -> None:
    """Build a picture of coloured blocks; frame in the object's colour. Option art: seed. Variant poster: frameless."""
    hx, hy, h = d.half
    frame = 0.0 if d.variant == "poster" else 0.04
    d.box((-hx, -hy, 0.0), (0.6 * hx, hy, h), "" if frame else "white", "" if frame else "paper")
    art = d.number("art", 0, 0, 999)
    width, height = 2 * (hy - frame) / 3, (h - 2 * frame) / 2
    for i in range(6):
        color = "" if not frame and i % 2 == 0 else _ART[(art + 3 * i + art * i) % len(_ART)]
        y, z = -hy + frame + (i % 3) * width, frame + (i // 3) * height
        d.box((0.6 * hx, y, z), (hx, y + width, z + height), color, "paper")


@shape("board")
def board(d: Design) -> None:
    """Build a board in a metal frame with a tray. Variants: white, notice (with papers), mirror, window."""
    hx, hy, h = d.half
    frame = 0.03
    d.box((-hx, -hy, 0.0), (0.4 * hx, hy, h), "gray" if d.variant in ("white", "notice") else "", "metal")
    inner = {"white": ("white", "plastic"), "mirror": ("#b8cdd6", "glass"), "window": ("#9cc8ea", "glass")}
    color, material = inner.get(d.variant, ("", ""))
    d.box((0.4 * hx, -hy + frame, frame), (0.6 * hx, hy - frame, h - frame), color, material)
    if d.variant == "white":
        d.box((0.4 * hx, -0.5 * hy, 0.0), (hx, 0.5 * hy, 0.02), "gray", "metal")
        d.box((0.6 * hx, -0.6 * hy, 0.5 * h), (0.7 * hx, 0.1 * hy, 0.53 * h), "blue", "plastic")
        d.box((0.6 * hx, -0.3 * hy, 0.7 * h), (0.7 * hx, 0.5 * hy, 0.72 * h), "red", "plastic")
    elif d.variant == "notice":
        for i in range(4):
            y = -0.85 * hy + i * 0.45 * hy
            z = (0.2 + 0.3 * (i % 2)) * h
            d.box((0.6 * hx, y, z), (hx, y + 0.3 * hy, z + 0.3 * h), "white" if i % 2 else "yellow", "paper")
    elif d.variant == "window":
        d.box((0.4 * hx, -0.02, 0.0), (hx, 0.02, h), "", "")
        d.box((0.4 * hx, -hy, 0.48 * h), (hx, hy, 0.52 * h), "", "")
    else:
        d.box((0.4 * hx, -hy, 0.0), (hx, hy, frame), "", "")


@shape("clock")
def clock(d: Design) -> None:
    """Build a clock: a round dial with two hands."""
    hx, hy, h = d.half
    r = min(hy, h / 2)
    d.lathe([(0, -hx), (r, -hx), (r, 0.6 * hx), (0.88 * r, 0.6 * hx)], (0, 0, h / 2), 14, axis="x")
    d.lathe([(0.88 * r, 0.5 * hx), (0, 0.5 * hx)], (0, 0, h / 2), 14, "white", "paper", axis="x")
    d.box((0.5 * hx, -0.015, h / 2), (hx, 0.015, h / 2 + 0.7 * r), "black", "plastic")
    d.box((0.5 * hx, 0.0, h / 2 - 0.015), (hx, 0.5 * r, h / 2 + 0.015), "black", "plastic")


@shape("door")
def door(d: Design) -> None:
    """Build a closed door with two panels and a handle."""
    hx, hy, h = d.half
    d.box((-0.5 * hx, -hy, 0.0), (0.5 * hx, hy, h))
    for side in (-1, 1):
        for z0, z1 in ((0.08, 0.45), (0.52, 0.93)):
            d.box((side * 0.5 * hx, -0.75 * hy, z0 * h), (side * 0.65 * hx, 0.75 * hy, z1 * h))
        d.box((side * 0.5 * hx, 0.82 * hy, 0.47 * h), (side * hx, 0.92 * hy, 0.5 * h), "gray", "metal")


@shape("curtain")
def curtain(d: Design) -> None:
    """Build a curtain with folds below a rod."""
    hx, hy, h = d.half
    folds = 8
    width = 2 * hy / folds
    for i in range(folds):
        depth = hx if i % 2 == 0 else 0.3 * hx
        d.box((-hx, -hy + i * width, 0.0), (depth, -hy + (i + 1) * width, h - 0.04))
    d.box((-hx, -hy, h - 0.04), (hx, hy, h), "gray", "metal")


@shape("kit")
def kit(d: Design) -> None:
    """Build a flat case with a white cross on its front: first aid kit or defibrillator."""
    hx, hy, h = d.half
    d.box((-hx, -hy, 0.0), (0.8 * hx, hy, h))
    cross = "white" if d.text("cross", "white") == "white" else "red"
    d.box((0.8 * hx, -0.5 * hy, 0.42 * h), (hx, 0.5 * hy, 0.58 * h), cross, "plastic")
    d.box((0.8 * hx, -0.1 * hy, 0.2 * h), (hx, 0.1 * hy, 0.8 * h), cross, "plastic")


@shape("rail")
def rail(d: Design) -> None:
    """Build a coat rack. Variants: wall (a board with hooks), tree (a pole on a foot)."""
    hx, hy, h = d.half
    if d.variant == "tree":
        r = min(hx, hy)
        d.cylinder(0.8 * r, 0.0, 0.03, segments=10)
        d.cylinder(0.03, 0.03, h, segments=6)
        for i, (x, y) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1))):
            d.bar((0, 0, 0.88 * h - 0.04 * i), (x * r, y * r, 0.95 * h - 0.04 * i), 0.03)
        return
    d.box((-hx, -hy, 0.4 * h), (-0.5 * hx, hy, h))
    for i in range(5):
        middle = -0.85 * hy + i * 0.42 * hy
        d.box((-0.5 * hx, middle - 0.015, 0.0), (hx, middle + 0.015, 0.25 * h), "black", "metal")
        d.box((-hx, y - 0.015, 0.0), (-0.5 * hx, y + 0.015, 0.5 * h), "black", "metal")
