"""Labelling of regions by the entities in them and the plates beside their doors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from lodestar.scene.lifecycle import EntityRecord
from lodestar.scene.records import Region
from lodestar.scene.regions import RegionMap, evidence_of, label_region
from lodestar.scene.signs import plates_by_region, signs_of


def labelled_regions(
    regions: Iterable, records: Mapping[int, EntityRecord], rooms: RegionMap
) -> tuple[Region, ...]:
    """Return the regions with labels and plates.

    regions: (id, area, centroid, neighbors) each, as returned by grid.regions. records: entities of the
    scene, by id. rooms: with the regions' mask.
    """
    inside: dict[int, list[EntityRecord]] = {}
    for record in records.values():
        if evidence_of(record.label):  # few labels indicate a room
            inside.setdefault(record.region_id, []).append(record)
    plates = plates_by_region(signs_of(records), rooms)
    found = []
    for identity, area, centroid, neighbors in regions:
        said = plates.get(int(identity), ())
        label, weight = label_region(inside.get(int(identity), ()), said)
        place = np.asarray(centroid, float)
        found.append(Region(int(identity), label, weight, float(area), place, tuple(neighbors), plates=said))
    return tuple(found)
