"""Named colours and materials, so that captions agree with rendered colours."""

from __future__ import annotations

from lodestar_sim.worlds.errors import WorldError

#: Colour name -> sRGB, 0..255.
COLORS: dict[str, tuple[int, int, int]] = {
    "red": (200, 30, 32),
    "orange": (238, 125, 28),
    "yellow": (240, 205, 40),
    "green": (42, 150, 62),
    "blue": (36, 82, 196),
    "purple": (122, 50, 158),
    "pink": (238, 130, 170),
    "brown": (122, 76, 42),
    "beige": (218, 196, 158),
    "black": (28, 28, 30),
    "white": (240, 240, 238),
    "gray": (134, 136, 140),
}

#: Material names; the index is the material's number in triangle arrays.
MATERIALS: tuple[str, ...] = (
    "plaster",
    "wood",
    "metal",
    "plastic",
    "fabric",
    "glass",
    "paper",
    "ceramic",
    "leather",
    "tile",
    "carpet",
    "concrete",
    "leaf",
    "skin",
    "screen",
    "water",
)
_MATERIAL_INDEX = {name: index for index, name in enumerate(MATERIALS)}


def rgb(color: str) -> tuple[int, int, int]:
    """Return the sRGB value of a colour name or of "#rrggbb". Raises WorldError for any other text."""
    if color in COLORS:
        return COLORS[color]
    if len(color) == 7 and color.startswith("#"):
        try:
            return (int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16))
        except ValueError:
            pass
    raise WorldError(f"unknown colour {color!r}; use one of {', '.join(COLORS)}, or #rrggbb")


def material_index(material: str) -> int:
    """Return the number of a material; raises WorldError for an unknown name."""
    try:
        return _MATERIAL_INDEX[material]
    except KeyError:
        raise WorldError(f"unknown material {material!r}; use one of {', '.join(MATERIALS)}") from None
