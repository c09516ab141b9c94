"""The part of the grid on which one expert's camera may have missed the target, for the current step."""

from __future__ import annotations

import math

import numpy as np

from lodestar.experts.coverage import TRIAL_EDGES, LookedAt
from lodestar.experts.heights import Lens, view_heading
from lodestar.experts.protocol import ProposalRequest
from lodestar.experts.rooms import rooms_mask
from lodestar.geometry.camera import PinholeCamera
from lodestar.grid.config import LookConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.language.directive import Step
from lodestar.language.query_graph import QueryGraph
from lodestar.models.category_priors import prior_of
from lodestar.models.kinship import same_kind
from lodestar.perception.eyes import EYES_RATE, Eyes, eyes_of
from lodestar.scene.mirror import SceneMirror
from lodestar.scene.records import Entity, EntityState

UNSEEN_BESIDE = 1.5  # m around a thing that may be the target within which its named neighbours stand; chosen
# what another view can still show (`LookedAt.missed`) from which a named neighbour is looked for there; chosen
UNSEEN_MISSED = 0.5
# chance of the best view below which a neighbour is not looked for, as it would take too many views; chosen
UNSEEN_HOPE = 0.1
UNSEEN_BESIDE_LEFT = np.float32(0.99)  # below 1, so that really unseen floor comes first; chosen
UNSEEN_ALIKE = 4  # things that may be the target, from more of which none is searched beside; chosen


class UnseenFloor:
    """Record of one camera's observations of the floor, and of the floor not looked at. fov: radians,
    horizontal, initial value before the first view.
    """

    def __init__(self, limits: LookConfig, camera_height: float, fov: float) -> None:
        self.looked = LookedAt(limits, camera_height=camera_height)
        self.fov = fov
        self._eyes = eyes_of(limits.eyes)
        self._limits, self._camera_height = limits, camera_height
        self.newest = -math.inf  # stamp of the newest request, seconds

    def set_grid(self, grid: OccupancyGrid2D) -> None:
        """Set the grid."""
        self.looked.set_grid(grid)

    def add_view(self, map_from_camera: np.ndarray, camera: PinholeCamera, stamp: float) -> None:
        """Record a view from this (4, 4) pose (optical frame): its cells count as looked at."""
        heading = view_heading(map_from_camera)
        if heading is None:
            return
        floor = float(map_from_camera[2, 3]) - self._camera_height
        lens = Lens.of(map_from_camera, camera, floor)
        self.fov = lens.fov
        self.looked.look(map_from_camera[:2, 3], heading, lens.fov, lens, floor, stamp)

    def begin(self, request: ProposalRequest, mirror: SceneMirror | None) -> None:
        """Take over the request's stamps, leaving out outdated observations, and the scene's furniture."""
        if request.stamp < self.newest - self._limits.interval:  # the clock restarted
            self.looked.clear()
        self.newest = request.stamp
        self.looked.count_from(request.looks_since)
        if mirror is not None:
            self.looked.set_entities(mirror.entities.values())

    def left(
        self,
        request: ProposalRequest,
        grid: OccupancyGrid2D,
        mirror: SceneMirror | None,
        beside: bool = False,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what another view can show (`LookedAt.missed`) for the request that was begun, restricted to its
        scope's rooms; and the chances (`view_chances`) by which it was computed.

        beside: count floor beside a thing that may be the target as probably missed (UNSEEN_BESIDE_LEFT), where a
        neighbour that the step names was.
        """
        chances = self.chances(request)
        left, closest = self.looked.missed(self._limits.range, chances, again=True)
        if beside:
            again = self._beside(request, grid, mirror) & (left > 0.0)
            left[again] = np.maximum(left[again], UNSEEN_BESIDE_LEFT)
        inside = rooms_mask(request.step.scope, grid, mirror)
        return (left if inside is None else np.where(inside, left, np.float32(0.0))), closest, chances

    def _beside(
        self, request: ProposalRequest, grid: OccupancyGrid2D, mirror: SceneMirror | None
    ) -> np.ndarray:
        """Return (rows, columns) bool of the floor beside the few things that may be the target, where views so far
        have missed a named neighbour with a probability of UNSEEN_MISSED or more.
        """
        near = np.zeros(grid.cells.shape, np.bool_)
        graphs = request.step.graphs
        named = {kind for graph in graphs[:1] for kind in wanted_neighbours(graph)}
        chances = {kind: kind_chances(self._eyes, kind, self._limits.range) for kind in named}
        kinds = [kind for kind, chance in chances.items() if chance.mean(axis=0).max() >= UNSEEN_HOPE]
        found = _like_the_target(graphs[0], mirror) if kinds and mirror is not None else []
        found = [one for one in found if one.id not in request.excluded_entities]
        if not 0 < len(found) <= UNSEEN_ALIKE:
            return near
        for one in found:
            corners = grid.cells_of(
                np.array([one.box_min[:2] - UNSEEN_BESIDE, one.box_max[:2] + UNSEEN_BESIDE])
            )
            (top, left), (bottom, right) = np.maximum(corners + np.array([[0], [1]]), 0)
            near[top:bottom, left:right] = True
        left = [self.looked.missed(self._limits.range, chances[kind], again=True)[0] for kind in kinds]
        return near & (np.max(left, axis=0) >= UNSEEN_MISSED)

    def chances(self, request: ProposalRequest) -> np.ndarray:
        """Return `view_chances` for a request."""
        return view_chances(self._eyes, request.step, self._limits.range)

    def missed(self, kind: str) -> np.ndarray:
        """Return the probability, (rows, columns) float32, that all views missed a thing of this kind in a cell."""
        return self.looked.missed(self._limits.range, kind_chances(self._eyes, kind, self._limits.range))[0]


def wanted_neighbours(graph: QueryGraph) -> set[str]:
    """Return the kinds of the things that the target is related to, without those that it must not be near."""
    wanted = {a for p in graph.predicates if not p.negated for a in p.arguments if a > 0}
    return {graph.variables[index].category for index in wanted}


def _like_the_target(graph: QueryGraph, mirror: SceneMirror) -> list[Entity]:
    """Return the things on the map of the kind and look of the target."""
    looks = {p.value.casefold() for p in graph.predicates if p.name == "HasAttribute" and p.arguments == (0,)}
    return [
        one
        for one in mirror.entities.values()
        if one.state is not EntityState.ARCHIVED
        and same_kind(one.label, graph.target.category)
        and looks <= set(one.caption.casefold().split())
    ]


def view_chances(eyes: Eyes, step: Step, reach: float) -> np.ndarray:
    """Return `kind_chances` for the thing of a step."""
    if not step.graphs:  # nothing to be detected: the floor itself is explored
        return np.full((1, len(TRIAL_EDGES)), EYES_RATE)
    return kind_chances(eyes, step.graphs[0].target.category, reach)


def kind_chances(eyes: Eyes, kind: str, reach: float) -> np.ndarray:
    """Return the chances (cases, bins) that a view from each distance (`TRIAL_EDGES`) shows a thing of this kind.

    reach: metres, the largest distance of a view.
    """
    size, edges = prior_of(kind).size, np.minimum(TRIAL_EDGES, reach)
    middles = (edges + np.concatenate([[0.5], edges[:-1]])) / 2.0
    return eyes.cases(kind, size, middles.tolist())


def view_values(chances: np.ndarray) -> np.ndarray:
    """Return the values (bins,) of a view from each distance beside the best one, for chances (cases, bins)."""
    mean = chances.mean(axis=0)
    return np.asarray(mean / mean.max())
