"""What was seen in passing, too briefly for the map, which asks for several views of a thing before it believes in it.

A camera that turns shows a thing for a moment, and the place counts as looked at from then on. Without a memory of
such moments a search goes on elsewhere and comes back last, or never.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lodestar.experts.lifting import LiftedDetection
from lodestar.geometry.boxes import point_box_distance
from lodestar.geometry.poses import inverse
from lodestar.perception.frames import RgbdFrame
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import EntityState


@dataclass(frozen=True)
class GlimpseConfig:
    """Metres. same_place: between two detections of one kind that are one thing, or between one and the box of a thing
    in the map. memory: glimpses that are kept. refuted: views of the place in which nothing of the kind was detected,
    after which it was a mistake; they count within `near`, with nothing before it by more than `slack`, and not
    within `margin` (share of the image) of the edge. tried: goals within `around` that were given up, after which it is
    left alone.
    """

    same_place: float = 0.5
    memory: int = 200
    refuted: int = 4
    near: float = 4.0
    slack: float = 0.3
    margin: float = 0.08
    tried: int = 2
    around: float = 1.5


@dataclass
class Glimpse:
    """A detection in map, from where it was seen (map_from_camera), when, and how often it was not seen since."""

    thing: LiftedDetection
    view: np.ndarray
    stamp: float
    missed: int = 0


class GlimpseMemory:
    """Detections by place, the nearest look at each, until the map knows the thing or another look refutes it."""

    def __init__(self, config: GlimpseConfig = GlimpseConfig()) -> None:
        self._config = config
        self._glimpses: list[Glimpse] = []

    def see(self, frame: RgbdFrame, things: Sequence[LiftedDetection]) -> None:
        """A view with what was detected in it."""
        seen = {id(glimpse): False for glimpse in self._glimpses}
        for thing in things:
            glimpse = self._at(thing)
            if glimpse is None:
                self._glimpses.append(Glimpse(thing, frame.map_from_camera, frame.stamp))
                continue
            seen[id(glimpse)] = True
            glimpse.missed, glimpse.stamp = 0, frame.stamp
            if thing.distance <= glimpse.thing.distance:
                glimpse.thing, glimpse.view = thing, frame.map_from_camera
        for glimpse, shows in zip(self._glimpses, self._shows(frame)):
            if shows and not seen.get(id(glimpse), True):
                glimpse.missed += 1
        kept = [glimpse for glimpse in self._glimpses if glimpse.missed < self._config.refuted]
        self._glimpses = sorted(kept, key=lambda glimpse: glimpse.stamp)[-self._config.memory :]

    def unknown_to(self, mirror: SceneMirror | None) -> list[Glimpse]:
        """Those of which the map has nothing of their kind at their place; the others are forgotten."""
        if mirror is not None:
            present = [e for e in mirror.entities.values() if e.state is not EntityState.ARCHIVED]
            self._glimpses = [
                glimpse
                for glimpse in self._glimpses
                if not any(
                    entity.label == glimpse.thing.detection.label
                    and float(point_box_distance(glimpse.thing.center, entity.box_min, entity.box_max))
                    <= self._config.same_place
                    for entity in present
                )
            ]
        return list(self._glimpses)

    def is_spent(self, glimpse: Glimpse, goals: Sequence[Sequence[float]]) -> bool:
        """Whether enough goals (x, y, ...) around it were given up."""
        where = glimpse.thing.center[:2]
        near = [g for g in goals if np.hypot(g[0] - where[0], g[1] - where[1]) <= self._config.around]
        return len(near) >= self._config.tried

    def _at(self, thing: LiftedDetection) -> Glimpse | None:
        label = thing.detection.label
        alike = [g for g in self._glimpses if g.thing.detection.label == label]
        away = [float(np.linalg.norm(g.thing.center - thing.center)) for g in alike]
        best = int(np.argmin(away)) if away else -1
        return alike[best] if alike and away[best] <= self._config.same_place else None

    def _shows(self, frame: RgbdFrame) -> np.ndarray:
        """(N,) bool: whether a view shows the place of each glimpse, with nothing before it."""
        config, camera = self._config, frame.camera
        centers = np.array([glimpse.thing.center for glimpse in self._glimpses]).reshape(-1, 3)
        camera_from_map = inverse(frame.map_from_camera)
        x, y, z = (centers @ camera_from_map[:3, :3].T + camera_from_map[:3, 3]).T
        ahead = (z > 0.2) & (z <= config.near)
        depth = np.where(ahead, z, 1.0)
        u, v = camera.fx * x / depth + camera.cx, camera.fy * y / depth + camera.cy
        rows, columns = frame.depth.shape
        wide, high = config.margin * columns, config.margin * rows
        inside = ahead & (u >= wide) & (u < columns - wide) & (v >= high) & (v < rows - high)
        measured = frame.depth[np.where(inside, v, 0).astype(int), np.where(inside, u, 0).astype(int)]
        return inside & np.isfinite(measured) & (measured >= depth - config.slack)
