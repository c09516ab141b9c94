"""Input of the shape builders, which add the parts of an object to it."""

from __future__ import annotations

from collections.abc import Callable

from lodestar_sim.worlds.errors import WorldError
from lodestar_sim.worlds.mesh import Assembly


class Design(Assembly):
    """Parts of one object: `size` (x, y, z) to fill, its `variant` and its options; front towards +x."""

    def __init__(
        self,
        size: tuple[float, float, float],
        variant: str,
        options: dict[str, str],
        color: str,
        material: str,
    ) -> None:
        super().__init__(color, material)
        self.size = size
        self.variant = variant
        self._options = options

    @property
    def half(self) -> tuple[float, float, float]:
        """Return half the width in x and y, and the full height."""
        return self.size[0] / 2, self.size[1] / 2, self.size[2]

    def number(self, key: str, default: int, low: int = 0, high: int = 12) -> int:
        """Return an option as a whole number within its limits."""
        text = self._options.get(key, str(default))
        try:
            return min(max(int(text), low), high)
        except ValueError:
            raise WorldError(f"option {key}={text!r} of a mesh must be a whole number") from None

    def text(self, key: str, default: str) -> str:
        """Return an option as text."""
        return self._options.get(key, default)

    def legs(self, inset: float, thickness: float, z1: float, color: str = "", material: str = "") -> None:
        """Add four square legs from the floor to `z1`, `inset` from the edges."""
        hx, hy, _ = self.half
        for sx in (-1, 1):
            for sy in (-1, 1):
                x, y = sx * (hx - inset), sy * (hy - inset)
                self.box((x, y, 0.0), (x - sx * thickness, y - sy * thickness, z1), color, material)


SHAPES: dict[str, Callable[[Design], None]] = {}


def shape(name: str) -> Callable[[Callable[[Design], None]], Callable[[Design], None]]:
    """Return a decorator that registers a shape builder under the name used in mesh references."""

    def register(builder: Callable[[Design], None]) -> Callable[[Design], None]:
        SHAPES[name] = builder
        return builder

    return register
