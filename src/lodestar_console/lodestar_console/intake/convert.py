"""Conversion of messages to records of the protocol. Texts from the world are passed on as untrusted data."""

from __future__ import annotations

import math
from typing import Any, Literal

import cv2
import numpy as np
from sensor_msgs.msg import PointCloud2

from lodestar.floors.records import NO_FLOORS, Building
from lodestar_console import protocol
from lodestar_interfaces import msg
from lodestar_ros.conversions import BadMessage, stamp_from_msg
from lodestar_ros.conversions_sensors import image_from_msg

_STATES = ("active", "uncertain", "archived")
_LONGEST = 300  # largest number of characters of a text from the world
_COLOR, _INSTANCE = "rgb", "instance"
_CHANGES: dict[str, Literal["moved", "gone", "new", "renamed"]] = {
    "MOVED": "moved", "GONE": "gone", "APPEARED": "new", "RELABEL": "renamed",
}  # fmt: skip
_SAME_BOX = 0.5  # IoU of the boxes of a detection and its observation, which may lack small parts
_FAR = 32_000  # cells; clip limit beyond any mask that OpenCV can still draw
FORBIDDEN = 90  # value of the keep-out mask from which a cell counts as closed


def brief(text: str) -> str:
    """Return a text from the world, cut to `_LONGEST` characters."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def number(value: float) -> float | None:
    """Return a number, None if it is not finite."""
    return float(value) if math.isfinite(value) else None


def entity(message: msg.Entity) -> protocol.Entity:
    """Return the record of a scene object."""
    low, high = message.box_min, message.box_max
    keyframes = dict.fromkeys(int(view.keyframe_id) for view in message.views if view.keyframe_id)
    stated = [
        f"{'not ' if one.negated else ''}{one.predicate}({', '.join(one.arguments)})"
        for one in message.stated
    ]
    return protocol.Entity(
        id=int(message.id),
        label=brief(message.label),
        caption=brief(message.caption),
        attributes=[brief(text) for text in message.attributes[:10]],
        mean=_rounded(message.mean),
        box=(_rounded(low), _rounded(high)),
        confidence=round(float(message.confidence), 3),
        state=_STATES[min(message.state, 2)],  # type: ignore[arg-type]
        room=int(message.region_id),
        first_seen=stamp_from_msg(message.first_seen),
        last_seen=stamp_from_msg(message.last_seen),
        keyframes=list(keyframes)[:8],
        stated=stated[:10],
        moves=not message.is_static,
    )


def _rounded(point: Any) -> tuple[float, float, float]:
    return round(point.x, 3), round(point.y, 3), round(point.z, 3)


def grid_cells(message: Any) -> np.ndarray:
    """Return the cells of an OccupancyGrid as (H, W) uint8: 0 unknown, 1 free, 2 occupied. Raises BadMessage."""
    width, height = message.info.width, message.info.height
    values = np.asarray(message.data, np.int8)
    if values.size != width * height or not message.info.resolution > 0.0:
        raise BadMessage(f"a grid of {width} x {height} cells has {values.size} values")
    values = values.reshape(height, width)
    return np.where(values < 0, 0, np.where(values >= 50, 2, 1)).astype(np.uint8)


def origin_of(info: Any) -> tuple[float, float, float]:
    """Return the origin of a map, x, y, yaw of its corner (m, rad)."""
    pose, turn = info.origin.position, info.origin.orientation
    return pose.x, pose.y, 2.0 * math.atan2(turn.z, turn.w) if turn.w or turn.z else 0.0


def outlines(mask: np.ndarray, info: Any, most: int = 40) -> list[protocol.Outline]:
    """Return the outer outlines, in map, of the areas of a mask (H, W) bool; at most `most`, largest first."""
    found, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    x0, y0, yaw = origin_of(info)
    cos, sin, pitch = math.cos(yaw), math.sin(yaw), info.resolution
    result = []
    for contour in sorted(found, key=cv2.contourArea, reverse=True)[:most]:
        cells = cv2.approxPolyDP(contour, 1.0, True)[:, 0, :].astype(float) + 0.5
        if len(cells) >= 3:
            u, v = cells[:, 0] * pitch, cells[:, 1] * pitch
            points = np.stack([x0 + cos * u - sin * v, y0 + sin * u + cos * v], axis=1).round(2)
            result.append([(float(x), float(y)) for x, y in points])
    return result


def rooms(message: msg.RegionArray, contents: dict[int, list[str]]) -> list[protocol.Room]:
    """Return the rooms. contents: labels of the objects in each room, by room id. Raises BadMessage."""
    mask = image_from_msg(message.mask)
    result = []
    for region in message.regions:
        shapes = outlines(mask == region.id, message.info, 1)
        result.append(
            protocol.Room(
                id=int(region.id),
                name=brief(region.label),
                outline=shapes[0] if shapes else [],
                x=round(region.centroid.x, 2),
                y=round(region.centroid.y, 2),
                weight=round(float(region.label_weight), 3),
                named=bool(region.named),
                area=round(float(region.area), 1),
                contents=contents.get(int(region.id), [])[:20],
                plates=[brief(text) for text in region.plates[:5]],
            )
        )
    return result


def frontiers(message: msg.FrontierArray, resolution: float) -> list[protocol.Frontier]:
    """Return the frontiers. resolution: metres per cell."""
    return [
        protocol.Frontier(
            id=int(one.id),
            x=round(one.centroid.x, 2),
            y=round(one.centroid.y, 2),
            gain=round(float(one.information_gain), 2),
            size=round(one.cell_count * resolution, 2),
            reason=brief(one.reason),
        )
        for one in message.frontiers
    ]


def closed_ways(message: msg.ClosedWayArray, building: Building = NO_FLOORS) -> list[protocol.Zone]:
    """Return the closed ways (segments that the robot must not cross) and the operators' keep-out areas.

    Those of other floors are left out.
    """
    return [_closed_way(way) for way in message.ways if building.may_be_here(int(way.floor))]


def _closed_way(way: msg.ClosedWay) -> protocol.Zone:
    corners = [(point.x, point.y) for point in (way.area or (way.start, way.end))]
    return protocol.Zone(
        id=f"{'area' if way.area else 'way'}{way.floor}:{':'.join(f'{x:.2f}:{y:.2f}' for x, y in corners)}",
        kind="keep_out" if way.area else "closed_way",
        outline=corners,
        text=brief(way.cause if way.area else way.cause.replace("_", " ").lower()),
        expires=stamp_from_msg(way.expires) or None,
        laid=bool(way.area),
    )


def keep_out(mask: Any, known: list[protocol.Zone]) -> list[protocol.Zone]:
    """Return the forbidden areas of a keep-out mask outside the zones `known`, such as areas of directives.

    Raises BadMessage.
    """
    width, height = mask.info.width, mask.info.height
    values = np.asarray(mask.data, np.int8)
    if values.size != width * height:
        raise BadMessage(f"a mask of {width} x {height} cells has {values.size} values")
    barred = (values.reshape(height, width) >= FORBIDDEN).astype(np.uint8)
    x0, y0, yaw = origin_of(mask.info)
    cos, sin = math.cos(yaw), math.sin(yaw)
    for zone in known:
        if zone.kind == "keep_out":
            x, y = (np.array(zone.outline) - (x0, y0)).T
            cells = np.stack([cos * x + sin * y, -sin * x + cos * y], axis=1) / mask.info.resolution
            corners = np.clip(np.floor(cells), -_FAR, _FAR).astype(np.int32)
            cv2.fillPoly(barred, [corners], 0)
            cv2.polylines(barred, [corners], isClosed=True, color=0, thickness=3)
    return [
        protocol.Zone(id=f"keep_out:{number}", kind="keep_out", outline=area, text="keep out")
        for number, area in enumerate(outlines(barred, mask.info))
    ]


def changes(message: msg.MapChanges) -> protocol.Changes:
    """Return the record of the differences from the loaded map."""
    found = [
        protocol.Change(
            kind=_CHANGES.get(one.kind, "moved"),
            text=brief(one.text),
            x=round(one.place[0].x, 2) if one.place else None,
            y=round(one.place[0].y, 2) if one.place else None,
            entities=[int(i) for i in one.entity_ids][:20],
        )
        for one in message.changes[:500]
    ]
    return protocol.Changes(against=brief(message.against), changes=found)


def looks(message: Any) -> np.ndarray:
    """Return the sharpness with which each cell was observed, (H, W) uint8: 0 never, 255 from nearby.

    Raises BadMessage.
    """
    width, height = message.info.width, message.info.height
    values = np.asarray(message.data, np.int8)
    if values.size != width * height or not message.info.resolution > 0.0:
        raise BadMessage(f"looks at {width} x {height} cells have {values.size} values")
    return (np.clip(values, 0, 100).astype(np.float32) * 2.55).astype(np.uint8).reshape(height, width)


def cloud(message: PointCloud2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points (N, 3) m, colours (N, 3) uint8 and instances (N,) uint32 of a cloud. Raises BadMessage."""
    offsets = {field.name: field.offset for field in message.fields}
    names = {"x": "<f4", "y": "<f4", "z": "<f4", _COLOR: "<u4", _INSTANCE: "<u4"}
    known = {name: form for name, form in names.items() if name in offsets}
    if not {"x", "y", "z"} <= known.keys() or message.is_bigendian:
        raise BadMessage("the cloud has no x, y and z as little-endian numbers")
    form = np.dtype(
        {
            "names": list(known),
            "formats": list(known.values()),
            "offsets": [offsets[name] for name in known],
            "itemsize": message.point_step,
        }
    )
    count = message.width * message.height
    if len(message.data) < count * message.point_step:
        raise BadMessage(f"the cloud has {len(message.data)} bytes for {count} points")
    rows = np.frombuffer(message.data, form, count)
    points = np.stack([rows["x"], rows["y"], rows["z"]], axis=1)
    color = rows[_COLOR] if _COLOR in known else np.full(count, 0x808080, np.uint32)
    colors = np.stack([(color >> shift) & 0xFF for shift in (16, 8, 0)], axis=1).astype(np.uint8)
    return points, colors, rows[_INSTANCE] if _INSTANCE in known else np.zeros(count, np.uint32)


def detections(
    message: msg.SegmentedImage, instances: msg.InstanceArray | None = None
) -> list[protocol.DetectedOutline]:
    """Return the detections with outlines in pixels. Raises BadMessage.

    instances: observations from the same image; a detection is matched by label and largest IoU of the boxes.
    """
    labels = image_from_msg(message.labels)
    seen = [] if instances is None else list(instances.observations)
    result = []
    for one in message.detections[:100]:
        box = one.image_box
        part = labels[box.y : box.y + box.height, box.x : box.x + box.width] == one.label_value
        found, _ = cv2.findContours(part.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        if not found:
            continue
        shape = cv2.approxPolyDP(max(found, key=cv2.contourArea), 2.0, True)[:, 0, :]
        result.append(
            protocol.DetectedOutline(
                label=brief(one.caption or one.label),
                score=round(float(one.score), 2),
                outline=[(float(u + box.x), float(v + box.y)) for u, v in shape[:100]],
                entity=_instance(one, seen),
            )
        )
    return result


def _instance(detection: msg.Detection, seen: list[msg.Observation]) -> int:
    """Return the id of the instance that a detection was assigned to, 0 = none."""
    fits = [
        (_overlap(detection.image_box, one.image_box), one) for one in seen if one.label == detection.label
    ]
    share, best = max(fits, key=lambda fit: fit[0], default=(0.0, None))
    return int(best.instance_id) if best is not None and share >= _SAME_BOX else 0


def _overlap(one: msg.ImageBox, other: msg.ImageBox) -> float:
    """Return the intersection over union (IoU) of two boxes."""
    wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    common = max(wide, 0) * max(high, 0)
    return common / max(one.width * one.height + other.width * other.height - common, 1)
