"""Memory of glimpses: detections of objects that the map does not have, because it needs several views to confirm
one.

A turning camera shows an object only briefly, and its place then counts as looked at. Without this memory a search
continues elsewhere and returns last, or never.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar.experts.lifted_detections import LiftedDetection
from lodestar.geometry.boxes import point_box_distance, transform_box
from lodestar.geometry.corrections import Anchor
from lodestar.geometry.poses import inverse
from lodestar.models.kinship import same_kind
from lodestar.perception.eyes import EYES_CASES, Eyes, eyes_of
from lodestar.perception.frames import Detection, RgbdFrame, SegmentedFrame
from lodestar.perception.measured_noise import view_change
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import EntityState

# metres between a detection and the box of an object of its kind within which they are the same object; chosen
GLIMPSE_SAME_PLACE = 0.5
GLIMPSE_MEMORY = 200  # glimpses that are kept; chosen
# A glimpse counts as a false detection after so many views that show its place but no object of the kind, if the
# detector would have overlooked a true one in all of them with a probability below GLIMPSE_OVERLOOKED; chosen
GLIMPSE_REFUTED = 4
GLIMPSE_OVERLOOKED = 0.5
GLIMPSE_ASIDE = (
    0.1  # change of the viewpoint from which on a measured detector's misses differ (`detector-noise`)
)
# Conditions on a frame that refutes a glimpse; all chosen:
GLIMPSE_NEAR = 4.0  # metres, the camera's largest distance
GLIMPSE_SLACK = 0.3  # metres by which the measured depth may fall short of the place's
GLIMPSE_MARGIN = 0.08  # share of the image at its edge that does not count
GLIMPSE_TRIED = 3  # given-up goals for another look, after which a glimpse is not proposed again; chosen
GLIMPSE_SAME_GOAL = 0.25  # metres within which two goals are the same; chosen


@dataclass
class Glimpse:
    """A detection in map with the pose (map_from_camera) and stamp of its view, the number of later views
    that missed it, and the goals (x, y) proposed to observe it again.

    tried: pose of the newest view that counts. overlooked: (cases,) probability that a true object was missed so far.
    """

    thing: LiftedDetection
    view: np.ndarray
    stamp: float
    tried: np.ndarray
    missed: int = 0
    overlooked: np.ndarray = field(default_factory=lambda: np.ones(len(EYES_CASES)))
    goals: list[tuple[float, float]] = field(default_factory=list)


class GlimpseMemory:
    """Keeps the nearest detection of each place until the map has the object or later views refute it.

    Glimpses move with jumps of the map and are dropped when another map is loaded.
    """

    def __init__(self, eyes: Eyes | None = None) -> None:
        self._eyes = eyes or eyes_of("")
        self._glimpses: list[Glimpse] = []
        self._anchor = Anchor()
        self._map: tuple[int, str] | None = None

    def see(self, frame: RgbdFrame, segmented: SegmentedFrame, things: Sequence[LiftedDetection]) -> None:
        """Add a view with its segmentation and its detections in map; a glimpse that it should show and does
        not is counted as missed.
        """
        if frame.depth.shape != segmented.labels.shape or not np.isfinite(frame.map_from_camera).all():
            return
        self.follow(frame)
        fresh: list[Glimpse] = []
        seen: set[int] = set()
        for thing in things:
            glimpse = self._at(thing)
            if glimpse is None:
                fresh.append(Glimpse(thing, frame.map_from_camera, frame.stamp, frame.map_from_camera))
                continue
            seen.add(id(glimpse))
            glimpse.missed, glimpse.stamp, glimpse.tried = 0, frame.stamp, frame.map_from_camera
            glimpse.overlooked = np.ones(len(EYES_CASES))
            if thing.distance <= glimpse.thing.distance:
                glimpse.thing, glimpse.view = thing, frame.map_from_camera
        for glimpse, pixel in zip(self._glimpses, self._shown_at(frame)):
            if pixel is None or id(glimpse) in seen:
                continue
            label = glimpse.thing.detection.label
            if not any(same_kind(d.label, label) and _covers(d, *pixel) for d in segmented.detections):
                self._miss(glimpse, frame.map_from_camera)
        kept = [g for g in self._glimpses if not _is_refuted(g)] + fresh
        self._glimpses = sorted(kept, key=lambda g: g.stamp)[-GLIMPSE_MEMORY:]

    def unknown_to(self, mirror: SceneMirror | None) -> list[Glimpse]:
        """Return the glimpses without a matching entity at their place; drop the others."""
        if mirror is None:
            return list(self._glimpses)
        here = (mirror.map_id, mirror.session_id)
        if self._map is not None and here != self._map:
            self._glimpses = []
        self._map = here
        boxes: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {
            g.thing.detection.label: [] for g in self._glimpses
        }
        reach = GLIMPSE_SAME_PLACE
        centers = np.array([g.thing.center for g in self._glimpses]).reshape(-1, 3)
        around = {one.id: one for place in centers for one in mirror.near(place - reach, place + reach)}
        for entity in around.values():
            if entity.state is EntityState.ARCHIVED:
                continue
            for label, found in boxes.items():
                if same_kind(entity.label, label):
                    found.append((entity.box_min, entity.box_max))
        unknown = np.ones(len(centers), bool)
        for label, found in boxes.items():
            if found:
                own = np.array([g.thing.detection.label == label for g in self._glimpses])
                away = point_box_distance(centers[own, None], *np.array(found).transpose(1, 0, 2))
                unknown[own] = away.min(axis=1) > reach
        self._glimpses = [g for g, kept in zip(self._glimpses, unknown) if kept]
        return list(self._glimpses)

    def is_spent(self, glimpse: Glimpse, given_up: Sequence[Sequence[float]]) -> bool:
        """Return whether at least GLIMPSE_TRIED goals of the glimpse are among the given-up goals (x, y,
        ...).
        """
        near = (any(math.dist(g, e[:2]) <= GLIMPSE_SAME_GOAL for e in given_up) for g in glimpse.goals)
        return sum(near) >= GLIMPSE_TRIED

    def propose(self, glimpse: Glimpse, goal: np.ndarray) -> None:
        """Store that this goal (3,) was proposed to observe the glimpse's place again."""
        place = (float(goal[0]), float(goal[1]))
        if all(math.dist(place, known) > GLIMPSE_SAME_GOAL for known in glimpse.goals):
            glimpse.goals.append(place)

    def follow(self, frame: RgbdFrame) -> None:
        """Move the glimpses after a jump of map <- odom. Call it for every frame, also for frames that `see` does not
        get. A non-finite pose is ignored.
        """
        if not np.isfinite(frame.map_from_camera).all():
            return
        with self._anchor.correction(frame.map_from_odom, frame.odom_from_camera, frame.stamp) as correction:
            if correction is not None:
                self._glimpses = [_moved(glimpse, correction.at(glimpse.stamp)) for glimpse in self._glimpses]

    def _miss(self, glimpse: Glimpse, view: np.ndarray) -> None:
        """Count a view that shows the glimpse's place and no object of its kind, if it is another viewpoint."""
        thing = glimpse.thing
        distance = float(np.linalg.norm(view[:3, 3] - thing.center))
        if self._eyes.measured is not None and view_change(glimpse.tried, view, distance) < GLIMPSE_ASIDE:
            return
        size = float((thing.box_max - thing.box_min).max())
        glimpse.tried, glimpse.missed = view, glimpse.missed + 1
        chances = self._eyes.cases(thing.detection.label, size, [distance])[:, 0]
        glimpse.overlooked = glimpse.overlooked * (1.0 - chances)

    def _at(self, thing: LiftedDetection) -> Glimpse | None:
        alike = [g for g in self._glimpses if same_kind(g.thing.detection.label, thing.detection.label)]
        if not alike:
            return None
        low, high = (np.array([getattr(g.thing, name) for g in alike]) for name in ("box_min", "box_max"))
        away = point_box_distance(thing.center, low, high)
        best = int(away.argmin())
        return alike[best] if away[best] <= GLIMPSE_SAME_PLACE else None

    def _shown_at(self, frame: RgbdFrame) -> list[tuple[float, float] | None]:
        """Return the pixel (u, v) of each glimpse's place in a view; None = outside or occluded."""
        camera = frame.camera
        centers = np.array([glimpse.thing.center for glimpse in self._glimpses]).reshape(-1, 3)
        camera_from_map = inverse(frame.map_from_camera)
        x, y, z = (centers @ camera_from_map[:3, :3].T + camera_from_map[:3, 3]).T
        ahead = (z > 0.2) & (z <= GLIMPSE_NEAR)
        depth = np.where(ahead, z, 1.0)
        u, v = camera.fx * x / depth + camera.cx, camera.fy * y / depth + camera.cy
        rows, columns = frame.depth.shape
        wide, high = GLIMPSE_MARGIN * columns, GLIMPSE_MARGIN * rows
        inside = ahead & (u >= wide) & (u < columns - wide) & (v >= high) & (v < rows - high)
        measured = frame.depth[np.where(inside, v, 0).astype(int), np.where(inside, u, 0).astype(int)]
        shows = inside & np.isfinite(measured) & (measured > 0.0) & (measured >= depth - GLIMPSE_SLACK)
        return [(float(a), float(b)) if shown else None for a, b, shown in zip(u, v, shows)]


def _is_refuted(glimpse: Glimpse) -> bool:
    return glimpse.missed >= GLIMPSE_REFUTED and float(glimpse.overlooked.mean()) < GLIMPSE_OVERLOOKED


def _covers(detection: Detection, u: float, v: float) -> bool:
    box = detection.box
    return box.x <= u <= box.x + box.width and box.y <= v <= box.y + box.height


def _moved(glimpse: Glimpse, jump: np.ndarray) -> Glimpse:
    """Return the glimpse moved by a correction (4, 4) of the map, without its goals."""
    thing = glimpse.thing
    low, high = transform_box(jump, thing.box_min, thing.box_max)
    center = jump[:3, :3] @ thing.center + jump[:3, 3]
    moved = replace(thing, center=center, box_min=low, box_max=high)
    return replace(glimpse, thing=moved, view=jump @ glimpse.view, tried=jump @ glimpse.tried, goals=[])
