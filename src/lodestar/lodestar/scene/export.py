"""Export of entities for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from lodestar.scene.records import Entity, Region

FORMAT = "lodestar-entities"
VERSION = 1


def entities_to_json(entities: Iterable[Entity], regions: Iterable[Region] = ()) -> str:
    """Return JSON of entities by id and of regions, in metres, seconds and frame `map`, without vectors."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "frame": "map",
        "entities": [_entity(entity) for entity in sorted(entities, key=lambda e: e.id)],
        "regions": [_region(region) for region in sorted(regions, key=lambda r: r.id)],
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def _numbers(values: np.ndarray) -> list[Any]:
    return np.round(np.asarray(values, np.float64), 6).tolist()


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.id,
        "label": entity.label,
        "caption": entity.caption,
        "attributes": list(entity.attributes),
        "state": entity.state.name,
        "confidence": round(entity.confidence, 4),
        "occupancy_probability": round(entity.occupancy_probability, 4),
        "static": entity.is_static,
        "mean": _numbers(entity.mean),
        "covariance": _numbers(entity.covariance),
        "box_min": _numbers(entity.box_min),
        "box_max": _numbers(entity.box_max),
        "region": entity.region_id,
        "observations": entity.observation_count,
        "first_seen": entity.first_seen,
        "last_seen": entity.last_seen,
        "covisible": {str(i): round(w, 4) for i, w in entity.covisible.items()},
        "neighbors": {str(i): round(w, 4) for i, w in entity.neighbors.items()},
        "views": [
            {
                "stamp": view.stamp,
                "map_from_camera": _numbers(view.map_from_camera),
                "box": [view.box.x, view.box.y, view.box.width, view.box.height],
                "keyframe": view.keyframe_id,
                "quality": round(view.quality, 4),
            }
            for view in entity.views
        ],
        "embeddings": [
            {"channel": name, "model": e.model, "dimension": len(e.vector)}
            for name, e in entity.embeddings.items()
        ],
    }


def _region(region: Region) -> dict[str, Any]:
    return {
        "id": region.id,
        "label": region.label,
        "weight": round(region.label_weight, 4),
        "area": round(region.area, 3),
        "centroid": _numbers(region.centroid),
        "neighbors": list(region.neighbors),
    }
