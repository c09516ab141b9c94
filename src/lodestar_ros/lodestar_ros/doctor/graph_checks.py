"""Checks of the graph: nodes, topics, quality of service, velocities, Nav2."""

from __future__ import annotations

import math
from collections.abc import Iterator

from lodestar.experts.registry import experts
from lodestar_ros.doctor.findings import Endpoint, Finding, Level, Observation

CORE = (
    "mapping",
    "perception",
    "keyframes",
    "semantic_voxels",
    "scene_dictionary",
    "text_embedder",
    "memory",
)
_NAV2 = ("controller_server", "planner_server", "behavior_server", "bt_navigator", "velocity_smoother")
_LISTED = 3  # most names in one sentence
_ROBOT = (
    "sportmodestate",
    "lowstate",
    "api/sport/request",
    "api/sport/response",
)  # last parts of the names of the robot's own topics
# Lodestar nodes that subscribe to velocities and move nothing
_HEARERS = ("goal_selector", "recorder", "doctor")
_TOOLS = ("rviz", "rqt", "ros2cli", "_ros2cli", "rosbag2", "foxglove")


def deciding() -> tuple[str, ...]:
    """Return the names of the deciding nodes: experts, goal selector and motion gate."""
    return (*(spec.node for spec in experts()), "goal_selector", "motion_gate")


def nodes(seen: Observation) -> Iterator[Finding]:
    """Find nodes of the stack that are missing, or run twice."""
    ours = [name for name in (*CORE, *deciding()) if seen.runs(name)]
    if not ours:
        where = f"domain {seen.machine.domain}, namespace {seen.namespace or '/'}"
        yield Finding(
            Level.FAULT, "no_stack", f"No node of Lodestar is in the graph ({where}).",
            "start the stack, or give the doctor its ROS_DOMAIN_ID and --namespace",
        )  # fmt: skip
        return
    for name in _missing(seen):
        silent = seen.changes[name].silent if name in seen.changes else math.nan
        last = "" if math.isnan(silent) else f"; it said its last word {silent:.0f} s ago"
        yield Finding(
            Level.FAULT, "missing_node", f"{name} does not run{last}.",
            f"look at its log for the reason ({name}.log); the launch file starts it again",
        )  # fmt: skip
    for name, count in seen.nodes.items():
        if count > 1:
            yield Finding(
                Level.FAULT, "node_twice", f"{name} runs {count} times.",
                "stop the second stack, or give it a ROS_DOMAIN_ID or a namespace of its own",
            )  # fmt: skip


def _missing(seen: Observation) -> list[str]:
    """Return the missing nodes: core nodes, deciding nodes if any of them runs, and nodes that just ended."""
    decides = any(seen.runs(name) for name in deciding())
    wanted = (*CORE, *(name for name in deciding() if decides or name in seen.changes))
    return [name for name in wanted if not seen.runs(name)]


def lives(seen: Observation) -> Iterator[Finding]:
    """Find nodes that ended, hang or were restarted during the observation."""
    for name, change in seen.changes.items():
        if change.silent >= 0.0 and name not in _missing(seen):
            yield Finding(
                Level.FAULT, "node_silent", f"{name} has said nothing for {change.silent:.0f} s: it ended, or hangs.",
                f"look at its log for the reason ({name}.log); what it said before is not told here",
            )  # fmt: skip
        elif change.restarted >= 0.0:
            yield Finding(
                Level.WARNING, "node_restarted", f"{name} was started again {change.restarted:.0f} s ago.",
                f"look at its log for why it ended ({name}.log); what is told of it is its new process's word",
            )  # fmt: skip


def quality_of_service(seen: Observation) -> Iterator[Finding]:
    """Find pairs of publisher and subscription with the same topic that DDS does not connect."""
    for topic, readers in seen.subscriptions.items():
        if topic.endswith(("/tf", "/tf_static")):
            yield from _transforms_unheard(topic, seen.publishers.get(topic, ()), readers)
            continue
        for writer in seen.publishers.get(topic, ()):
            for reader in readers:
                reason = _mismatch(writer, reader)
                if reason and topic.endswith(_ROBOT):
                    yield Finding(
                        Level.FAULT, "other_firmware",
                        f"{reader.node} does not understand {writer.node} on {topic}: {reason}.",
                        "build the messages of the robot's firmware (unitree_ros2), then make setup again",
                    )  # fmt: skip
                elif reason:
                    yield Finding(
                        Level.FAULT, "qos_mismatch",
                        f"{reader.node} never hears {writer.node} on {topic}: {reason}.",
                        f"set the quality of service of {writer.node} (its driver's parameters)",
                    )  # fmt: skip


def _transforms_unheard(
    topic: str, writers: tuple[Endpoint, ...], readers: tuple[Endpoint, ...]
) -> Iterator[Finding]:
    """Find publishers of transforms that nodes cannot receive, one finding per publisher: every node
    subscribes to them.
    """
    for writer in writers:
        deaf: dict[str, list[str]] = {}
        for reader in readers:
            if reason := _mismatch(writer, reader):
                deaf.setdefault(reason, []).append(reader.node)
        for reason, names in deaf.items():
            yield Finding(
                Level.FAULT, "qos_mismatch",
                f"{listed(sorted(set(names)))} cannot hear {writer.node} on {topic}: {reason}.",
                f"have {writer.node} publish /tf_static reliable and transient_local (StaticTransformBroadcaster), and "
                "/tf reliable; of a bag: ros2 bag play --qos-profile-overrides-path",
            )  # fmt: skip


def _mismatch(writer: Endpoint, reader: Endpoint) -> str:
    if writer.type != reader.type:
        return f"it sends {writer.type} and {reader.type} is expected"
    if writer.layout and reader.layout and writer.layout != reader.layout:
        return f"its {writer.type} has other fields than ours"
    if reader.reliable and not writer.reliable:
        return "it sends best effort, and reliable delivery is asked for"
    if reader.latched and not writer.latched:
        return "it does not keep its last message for late listeners"
    return ""


def velocities(seen: Observation) -> Iterator[Finding]:
    """Find velocity commands that bypass the motion gate."""
    gate = seen.full("motion_gate")
    if not seen.runs("motion_gate"):
        return
    past = sorted({p.node for p in seen.publishers.get(seen.full("cmd_vel_out"), ()) if p.node != gate})
    if past:
        yield Finding(
            Level.FAULT, "past_the_gate", f"{listed(past)} publishes on cmd_vel_out, past motion_gate.",
            "stop it, or remap its output to cmd_vel; a stop does not reach it",
        )  # fmt: skip
    allowed = {gate, *(seen.full(name) for name in (*_NAV2, *_HEARERS, "sim_navigator", "collision_monitor"))}
    heard = {s.node for s in seen.subscriptions.get(seen.full("cmd_vel"), ()) if s.node not in allowed}
    heard = {node for node in heard if not _is_tool(node)}
    if heard:
        yield Finding(
            Level.FAULT, "base_on_cmd_vel", f"{listed(sorted(heard))} listens to cmd_vel.",
            "if it is the base's driver, remap its input to cmd_vel_out: it walks past every stop there is",
        )  # fmt: skip
    bases = bases_of(seen)
    if not bases:
        yield Finding(
            Level.FAULT, "no_base", "Nothing listens to cmd_vel_out: the robot cannot move.",
            "start the base's driver, and remap its input to cmd_vel_out",
        )  # fmt: skip


def bases_of(seen: Observation) -> list[str]:
    """Return the base drivers: nodes that move the robot by the velocities of the motion gate."""
    hearers = {seen.full(name) for name in _HEARERS}
    found = {one.node for one in seen.subscriptions.get(seen.full("cmd_vel_out"), ())} - hearers
    return sorted(node for node in found if not _is_tool(node))


def _is_tool(node: str) -> bool:
    return node.rsplit("/", 1)[-1].startswith(_TOOLS)


def bases(seen: Observation) -> Iterator[Finding]:
    """Find two drivers of one base: both publish odom. A mere subscriber of cmd_vel_out may only be monitoring."""
    telling = sorted({one.node for one in seen.publishers.get(seen.full("odom"), ())})
    if len(telling) > 1:
        yield Finding(
            Level.FAULT, "two_bases", f"{listed(telling)} publish odom: two drivers of one base.",
            "stop all but one; with another driver than ours start the stack with driver:=external",
        )  # fmt: skip


def navigator(seen: Observation) -> Iterator[Finding]:
    """Find a missing, duplicate or inactive navigator."""
    if not seen.runs("goal_selector"):
        return
    if seen.navigators == 0:
        yield Finding(
            Level.FAULT, "no_navigator", "No server of navigate_to_pose runs.",
            "start Nav2, or navigator:=sim in the simulator",
        )  # fmt: skip
    elif seen.navigators > 1:
        yield Finding(
            Level.FAULT, "two_navigators", f"{seen.navigators} servers of navigate_to_pose run.",
            "stop all but one: a driver's own launch file may have started Nav2 too",
        )  # fmt: skip
    for name, state in seen.lifecycle.items():
        if state != "active":
            yield Finding(
                Level.FAULT, "nav2_inactive", f"{name} is {state}, not active.",
                "look at the log of lifecycle_manager_navigation for the parameter or transform that stops it",
            )  # fmt: skip


def listed(names: list[str]) -> str:
    """Return the first names and the number of the others, as text."""
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
