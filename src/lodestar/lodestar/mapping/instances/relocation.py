"""Matches instances that disappeared with new instances that look the same, so that a moved object keeps its id."""

from __future__ import annotations

from collections.abc import Callable

from lodestar.mapping.config import VOXEL_CONFIRM
from lodestar.mapping.instances.registry import InstanceRegistry
from lodestar.mapping.instances.tracks import Track
from lodestar.models.kinship import kind_of, looks_of

RELOCATION_SIZE = 1.6  # largest ratio of the longest sides of a disappeared and a new instance; chosen


def find_moved(
    registry: InstanceRegistry, candidates: list[int], differ: Callable[[Track, Track], bool]
) -> list[tuple[int, int]]:
    """Return unambiguous pairs (disappeared id, newcomer id) that are one object.

    candidates: ids of confirmed instances that may be newcomers. differ: whether features tell two instances
    apart. The two must look alike (label, caption, feature and size), the newcomer must have been first seen
    after the disappeared instance was last seen, and neither may match a third instance.
    """
    if not registry.gone:
        return []
    partners: dict[int, list[int]] = {}
    claims: dict[int, list[int]] = {}
    for identity in candidates:
        track = registry.tracks.get(identity)
        if track is None or track.observation_count < VOXEL_CONFIRM:
            continue
        for gone in registry.gone.values():
            if track.first_seen > gone.last_seen and _look_alike(gone, track) and not differ(gone, track):
                partners.setdefault(identity, []).append(gone.id)
                claims.setdefault(gone.id, []).append(identity)
    return [
        (found[0], identity)
        for identity, found in sorted(partners.items())
        if len(found) == 1 and len(claims[found[0]]) == 1
    ]


def _look_alike(a: Track, b: Track) -> bool:
    if kind_of(a.label) != kind_of(b.label) or looks_of(a.caption, a.label) != looks_of(b.caption, b.label):
        return False
    sides = sorted(float((t.box_max - t.box_min).max()) for t in (a, b))
    return sides[1] <= RELOCATION_SIZE * max(sides[0], 1e-3)
