"""Markers for RViz: entities, goals, proposals, frontiers, snapshots, regions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from lodestar.experts.protocol import Proposal
from lodestar.experts.registry import FRONTIER, experts
from lodestar.mapping.voxels.colors import color_of
from lodestar.memory.records import Snapshot
from lodestar.scene.records import Entity, EntityState, Region
from lodestar.scene.session_changes import ChangeKind, ThingChange
from lodestar_ros.conversions import point_to_msg
from lodestar_ros.marker_shapes import arrow_marker, ball_marker, fresh, marker, rgba, text_marker

if TYPE_CHECKING:  # its import loads SciPy, which not every drawing node needs
    from lodestar.scene.regions import RegionMap

# m, size of the tiles of a region's floor; coarser than the grid, to keep the message of a building small
_TILE = 0.25
STATE_COLORS = {EntityState.ACTIVE: (1.0, 1.0, 1.0), EntityState.UNCERTAIN: (1.0, 0.7, 0.1)}
_NO_EXPERT = (0.7, 0.7, 0.7)  # colour of goals that the loop sets itself
CHANGE_COLORS = {
    ChangeKind.MOVED: (0.2, 0.6, 1.0),
    ChangeKind.VANISHED: (1.0, 0.2, 0.2),
    ChangeKind.APPEARED: (0.2, 0.9, 0.3),
    ChangeKind.RELABELLED: (1.0, 0.7, 0.1),
}


def _entity_color(entity_id: int, alpha: float) -> ColorRGBA:
    red, green, blue = color_of(entity_id) / 255.0
    return rgba(red, green, blue, alpha)


def entity_markers(
    entities: Iterable[Entity],
    stamp: float,
    regions: Iterable[Region] = (),
    changes: Iterable[ThingChange] = (),
    rooms: RegionMap | None = None,
) -> MarkerArray:
    """Return a box in the instance's colour and a caption in the state's colour per entity.

    Archived entities are omitted, uncertain ones pale. Rooms are shown on the floor, with their names, and changes
    since the loaded map as in `change_markers`.
    """
    markers = [] if rooms is None else region_markers(rooms, stamp)
    markers += [
        text_marker(
            "rooms",
            region.id,
            stamp,
            (*region.centroid[:2], 0.05),
            region.label,
            size=0.4,
            color=(0.6, 0.8, 1.0),
        )
        for region in regions
        if region.label
    ]
    for entity in entities:
        if entity.state is EntityState.ARCHIVED:
            continue
        size = np.maximum(entity.box_max - entity.box_min, 0.02)
        alpha = 0.35 if entity.state is EntityState.ACTIVE else 0.12
        box = marker(Marker.CUBE, "boxes", entity.id, stamp, _entity_color(entity.id, alpha), size)
        box.pose.position = point_to_msg((entity.box_min + entity.box_max) / 2)
        top = ((entity.box_min + entity.box_max) / 2)[:2]
        text = f"{entity.id} {entity.caption or entity.label}"
        place, color = (*top, entity.box_max[2] + 0.1), STATE_COLORS[entity.state]
        markers += [box, text_marker("captions", entity.id, stamp, place, text, color=color)]
    return fresh(markers + change_markers(changes, stamp))


def region_markers(rooms: RegionMap, stamp: float) -> list[Marker]:
    """Return the floor of each region as tiles in its colour, in the namespace "regions"."""
    markers = []
    for identity in sorted(rooms.regions):
        places = np.unique(np.floor(rooms.places_of(identity) / _TILE).astype(int), axis=0)
        if len(places):
            color, scale = _entity_color(identity, 0.25), (_TILE, _TILE, 0.01)
            tiles = marker(Marker.CUBE_LIST, "regions", identity, stamp, color, scale)
            tiles.points = [point_to_msg((*place, 0.01)) for place in (places + 0.5) * _TILE]
            markers.append(tiles)
    return markers


def decision_markers(
    goal: Any, proposals: Iterable[tuple[Proposal, bool]], trail: Iterable[Any], stamp: float
) -> list[Marker]:
    """Return markers of the goal, the path so far, and the experts' newest proposals (pale: not chosen)."""
    markers, colors = [], {spec.name: spec.color for spec in experts()}
    if goal is not None:
        markers.append(arrow_marker("goal", 0, stamp, goal, rgba(1.0, 0.1, 0.1), 0.8))
    for index, (proposal, chosen) in enumerate(proposals):
        color = rgba(*colors.get(proposal.expert, _NO_EXPERT), 1.0 if chosen else 0.4)
        text = f"{proposal.expert} {proposal.confidence:.2f}\n{proposal.rationale}"
        place = (proposal.goal[0], proposal.goal[1], 0.4)
        markers += [
            arrow_marker("proposals", index, stamp, proposal.goal, color),
            text_marker("proposal_texts", index, stamp, place, text, 0.12),
        ]
    points = [point_to_msg((*place[:2], 0.02)) for place in trail]
    if len(points) > 1:
        line = marker(Marker.LINE_STRIP, "trail", 0, stamp, rgba(0.9, 0.2, 0.9, 0.8), (0.04, 0, 0))
        line.points = points
        markers.append(line)
    return markers


def frontier_markers(frontiers: Iterable[Any], stamp: float) -> MarkerArray:
    """Return a sphere per frontier, sized by its gain, and an arrow at its viewpoint; unreachable frontiers are
    grey, with the reason.
    """
    markers = []
    for item in frontiers:
        size = 0.1 + 0.05 * float(np.sqrt(max(item.gain, 0.0)))
        color = rgba(*FRONTIER.color, 0.9) if item.reachable else rgba(0.5, 0.5, 0.5, 0.5)
        markers.append(ball_marker("frontiers", item.id, stamp, (*item.centroid[:2], 0.05), color, size))
        if item.viewpoint is not None:
            markers.append(arrow_marker("viewpoints", item.id, stamp, item.viewpoint, color, 0.3))
        elif item.reason:
            place = (*item.centroid[:2], 0.3)
            markers.append(text_marker("reasons", item.id, stamp, place, item.reason, 0.1, (0.6, 0.6, 0.6)))
    return fresh(markers)


def snapshot_markers(
    snapshots: Iterable[Snapshot],
    poses: Mapping[int, np.ndarray],
    entities: Mapping[int, Entity],
    stamp: float,
) -> MarkerArray:
    """Return an arrow along the view, lines from the camera to the entities, and a caption for each snapshot.

    poses: keyframe id -> (4, 4) map <- camera. Snapshots without a known keyframe are left out.
    """
    markers = []
    for snapshot in snapshots:
        pose = poses.get(snapshot.keyframe_id)
        if pose is None:
            continue
        eye, color = pose[:3, 3], _entity_color(snapshot.id, 0.9)
        arrow = marker(Marker.ARROW, "snapshots", snapshot.id, stamp, color, (0.05, 0.1, 0.1))
        arrow.points = [point_to_msg(eye), point_to_msg(eye + 0.4 * pose[:3, 2])]
        known = [entities[i] for i in sorted(snapshot.entity_ids) if i in entities]
        lines = marker(Marker.LINE_LIST, "shown", snapshot.id, stamp, color, (0.01, 0, 0))
        lines.points = [point_to_msg(end) for one in known for end in (eye, (one.box_min + one.box_max) / 2)]
        text = f"{snapshot.id} {snapshot.caption}".rstrip()
        markers += [
            arrow,
            text_marker("snapshot_captions", snapshot.id, stamp, eye + np.array([0.0, 0.0, 0.2]), text, 0.1),
        ]
        if known:
            markers.append(lines)
    return fresh(markers)


def change_markers(changes: Iterable[ThingChange], stamp: float) -> list[Marker]:
    """Return the markers of changes, in the namespaces "changes" and "change_texts".

    An arrow from the old to the new place of a moved object, a ball where one appeared, vanished or was relabelled,
    and a text for each.
    """
    markers = []
    for index, change in enumerate(changes):
        known = change.after or change.before
        if change.kind not in CHANGE_COLORS or known is None:
            continue
        color = CHANGE_COLORS[change.kind]
        alpha = 0.3 + 0.7 * change.probability
        if change.kind is ChangeKind.MOVED and change.before is not None and change.after is not None:
            shape = marker(Marker.ARROW, "changes", index, stamp, rgba(*color, alpha), (0.04, 0.1, 0.1))
            shape.points = [point_to_msg(change.before.mean), point_to_msg(change.after.mean)]
        else:
            shape = marker(Marker.SPHERE, "changes", index, stamp, rgba(*color, alpha), (0.2, 0.2, 0.2))
            shape.pose.position = point_to_msg(known.mean)
        place = known.mean + np.array([0.0, 0.0, 0.3])
        text = f"{known.id} {known.caption or known.label}: {change.kind.value} {change.probability:.0%}"
        markers += [shape, text_marker("change_texts", index, stamp, place, text, color=color)]
    return markers
