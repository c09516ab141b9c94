"""Checks of the robot's data: streams, stamps, frames, and the nodes' diagnostics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from lodestar.perception.config import COMPRESSED
from lodestar_ros.doctor.findings import Finding, FrameEdge, Level, Observation

# least Hz of each input; chosen
RATES = {"image": 3.0, "depth": 3.0, "points": 3.0, "scan": 3.0, "odom": 15.0}
_APART = 1.0  # s between a stamp and the doctor's clock
_LAG = 0.5  # s that a moving transform may lag
_CHAIN = (("map", "odom"), ("odom", "base_link"))


def streams(seen: Observation, topics: dict[str, str]) -> Iterator[Finding]:
    """Find sensors that are silent, slow or stamped by another clock. topics: input -> full name of its topic."""
    for name, topic in topics.items():
        if not seen.subscriptions.get(topic):
            continue
        stream = seen.streams.get(topic)
        if not seen.publishers.get(topic):
            yield Finding(
                Level.FAULT, "no_publisher", f"Nobody publishes {topic} ({name}).{_like(seen, topic)}",
                "start the driver, or remap its topic to this name (ros2 topic list shows what there is)",
            )  # fmt: skip
        elif stream is None or stream.rate == 0.0:
            yield Finding(
                Level.FAULT, "silent", f"{topic} is silent: nothing came in {seen.seconds:.0f} s.",
                "is the sensor connected, and does its driver's quality of service fit?",
            )  # fmt: skip
        elif name in RATES and stream.rate < RATES[name]:
            yield Finding(
                Level.WARNING, "slow", f"{topic} comes {stream.rate:.1f} times a second; {RATES[name]:g} are needed.",
                "lower the resolution, use a cable instead of wireless, or look for a full processor",
            )  # fmt: skip
        if stream is not None and math.isfinite(stream.age) and abs(stream.age) > _APART:
            side = "behind" if stream.age > 0.0 else "ahead of"
            yield Finding(
                Level.FAULT, "clocks_apart", f"Stamps of {topic} are {abs(stream.age):.1f} s {side} our clock.",
                "synchronise the computers (chrony), or set use_sim_time alike on all nodes",
            )  # fmt: skip
        if stream is not None and stream.scan_problem:
            yield Finding(
                Level.FAULT, "scan_contradicts_itself", f"{topic} cannot be used: {stream.scan_problem}.",
                "set angle_min, angle_max and angle_increment of the driver so that they agree with its ranges; "
                "clockwise scans have a negative increment, and angle_max below angle_min",
            )  # fmt: skip


def _like(seen: Observation, topic: str) -> str:
    """Return a sentence that lists topics of the same type without subscribers, which a driver may publish
    instead.
    """
    kinds = {one.type for one in seen.subscriptions.get(topic, ())}
    found = sorted(
        other
        for other, writers in seen.publishers.items()
        if not seen.subscriptions.get(other) and any(one.type in kinds for one in writers)
    )
    told = f" There is {', '.join(found[:3])} of its type, which nobody hears." if found else ""
    return told + _in_another_form(seen, topic)


def _in_another_form(seen: Observation, topic: str) -> str:
    """Return a sentence if a topic's images are published raw while compressed ones are expected, or vice
    versa.
    """
    last = topic.rsplit("/", 1)[-1]
    raw = topic.rsplit("/", 1)[0] if last in COMPRESSED else topic
    for form, other in (("raw", raw), *((form, f"{raw}/{form}") for form in COMPRESSED)):
        if other != topic and seen.publishers.get(other):
            return f" There is {other}: set shared.transport.color or shared.transport.depth to {form}."
    return ""


def images(seen: Observation, color: str, depth: str, info: str) -> Iterator[Finding]:
    """Find images without camera info, and depth that is not registered to the colour image. Names are full topics."""
    pictures = seen.streams.get(color)
    if pictures is not None and pictures.rate > 0.0 and not seen.publishers.get(info):
        yield Finding(
            Level.FAULT, "no_camera_info", f"{color} has no {info}.",
            "have the camera's driver publish camera_info, or remap it",
        )  # fmt: skip
    far = seen.streams.get(depth)
    if pictures is None or far is None or not pictures.rate or not far.rate:
        return
    if pictures.size != far.size or pictures.frame != far.frame:
        told = ", colour ".join(f"{one.size[0]}x{one.size[1]} in {one.frame}" for one in (far, pictures))
        yield Finding(
            Level.FAULT, "depth_not_aligned", f"Depth is not aligned to colour: {told}.",
            "start the RealSense with align_depth.enable:=true and use aligned_depth_to_color",
        )  # fmt: skip


def frames(seen: Observation) -> Iterator[Finding]:
    """Find missing, duplicate and late transforms, and sensor frames that are not connected."""
    parents: dict[str, set[str]] = {}
    for edge in seen.frames:
        parents.setdefault(edge.child, set()).add(edge.parent)
    for parent, child in _CHAIN:
        if child not in parents:
            yield Finding(Level.FAULT, "no_transform", f"Nobody publishes {parent} -> {child}.", _WHO[child])
    for child, given in parents.items():
        if len(given) > 1:
            yield Finding(
                Level.FAULT, "two_parents", f"{child} has two parents: {' and '.join(sorted(given))}.",
                "two drivers publish it: switch off the TF of one (publish_tf: false)",
            )  # fmt: skip
    for parent, child in seen.doubled:
        yield Finding(
            Level.FAULT, "transform_twice", f"Two publishers send {parent} -> {child}.",
            "switch off the TF of one (publish_tf: false), or stop the second SLAM or driver",
        )  # fmt: skip
    for edge in seen.frames:
        if not edge.static and abs(edge.lag) > _LAG:
            yield _late(edge)
    loop = _loop(parents)
    if loop:
        yield Finding(
            Level.FAULT,
            "loop",
            f"Transforms form a loop: {' -> '.join(loop)}.",
            "correct the driver that exchanges parent and child",
        )
        return
    for topic, stream in seen.streams.items():
        if (
            stream.frame
            and stream.frame not in ("map", "odom")
            and _root(stream.frame, parents) not in ("map", "odom")
        ):
            yield Finding(
                Level.FAULT, "frame_hangs_on_nothing",
                f"{topic} is in {stream.frame}, which no transform joins to the robot.",
                f"publish base_link -> {stream.frame} (robot_state_publisher, or static_transform_publisher)",
            )  # fmt: skip


_WHO = {
    "odom": "start SLAM (slam:=slam_toolbox), or what else localises the robot",
    "base_link": "start the base's driver (go2_base); it must publish TF at 50 Hz",
}


def _late(edge: FrameEdge) -> Finding:
    side = "behind" if edge.lag > 0.0 else "ahead of"
    return Finding(
        Level.FAULT, "transform_lag", f"{edge.parent} -> {edge.child} is {abs(edge.lag):.1f} s {side} our clock.",
        "its publisher hangs, or its computer's clock is another: synchronise them (chrony)",
    )  # fmt: skip


def _root(frame: str, parents: dict[str, set[str]]) -> str:
    for _ in range(len(parents) + 1):
        if frame in ("map", "odom") or frame not in parents:
            return frame
        frame = min(parents[frame])
    return frame


def _loop(parents: dict[str, set[str]]) -> list[str]:
    for start in parents:
        way, frame = [start], start
        while frame in parents and len(way) <= len(parents) + 1:
            frame = min(parents[frame])
            if frame == start:
                return [*way, start]
            way.append(frame)
    return []


def diagnostics(seen: Observation) -> Iterator[Finding]:
    """Report warnings of the nodes' diagnostics, and inputs that drop many messages."""
    for node, (level, text, values) in seen.diagnostics.items():
        if level >= 1 and node != "doctor":  # the doctor's own findings of an earlier observation
            yield Finding(
                Level.WARNING,
                "node_warns",
                f"{node} says: {text[:200]}.",
                "see its log, and troubleshooting.md",
            )
        drops = values.get("drop_offs", "")
        # other maps, such as that of SLAM's stand-in, are not driven on
        driven_on = node.rsplit("/", 1)[-1] == "mapping"
        if driven_on and drops.startswith(("NOT SEEN", "WRONG HEIGHT")):
            yield Finding(
                Level.WARNING, "drop_offs", f"{node}: {drops[:200]}.",
                "set octomap.floor.base_height, give mapping points or depth, or fence stairs off",
            )  # fmt: skip
        for name, total in _drops(values).items():
            received = _number(values.get(f"{name}.received"))
            if received >= 20.0 and total > 0.2 * received:
                why = ", ".join(
                    key.rsplit(".", 1)[-1] for key in values if key.startswith(f"{name}.dropped.")
                )
                yield Finding(
                    Level.WARNING, "drops", f"{node} drops {total:.0f} of {received:.0f} messages on {name} ({why}).",
                    "late or out_of_order: stamps or network; malformed: another type or size; no_transform: TF",
                )  # fmt: skip


def _drops(values: dict[str, str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for key, value in values.items():
        if key.endswith(".dropped") and _number(value):
            found[key.removesuffix(".dropped")] += int(_number(value))
    return found


def _number(text: str | None) -> float:
    try:
        return float(text or 0.0)
    except ValueError:
        return 0.0


def motion(seen: Observation) -> Iterator[Finding]:
    """Report why the robot cannot move now."""
    status, before = seen.diagnostics.get("motion_gate"), seen.before.get("motion_gate", {})
    blocked = status[2].get("blocked", "no") if status else "no"
    if blocked.startswith(("held", "paused")):
        yield Finding(Level.NOTE, "held", f"Nothing moves: {blocked}.", "python -m lodestar_ros.hold off")
    # a busy computer may say it once
    elif blocked == before.get("blocked") == "no heartbeat" and seen.runs("goal_selector"):
        yield Finding(
            Level.FAULT, "no_heartbeat", "motion_gate hears no heartbeat of goal_selector.",
            "it hangs, or another domain or namespace separates them",
        )  # fmt: skip
