"""Runs every check on one observation."""

from __future__ import annotations

from lodestar_ros.doctor import camera_checks, graph_checks, machine_checks, sensor_checks, word_checks
from lodestar_ros.doctor.findings import Finding, Level, Observation


def checkup(seen: Observation, inputs: dict[str, str]) -> list[Finding]:
    """Return the findings of all checks, the worst first.

    inputs: image, depth, camera_info, points, scan, odom -> full name of the topic that the stack subscribes to.
    """
    found = list(graph_checks.nodes(seen))
    if any(finding.check == "no_stack" for finding in found):
        return [*found, *machine_checks.middleware(seen), *machine_checks.space(seen)]
    info = inputs.get("camera_info", "")
    for check in (
        graph_checks.lives,
        graph_checks.quality_of_service,
        graph_checks.velocities,
        graph_checks.bases,
        graph_checks.navigator,
        lambda seen: sensor_checks.streams(seen, {k: v for k, v in inputs.items() if k != "camera_info"}),
        lambda seen: sensor_checks.images(seen, inputs.get("image", ""), inputs.get("depth", ""), info),
        lambda seen: camera_checks.cameras(seen, inputs),
        lambda seen: camera_checks.optical_frames(seen, inputs),
        sensor_checks.frames,
        sensor_checks.diagnostics,
        sensor_checks.motion,
        machine_checks.space,
        machine_checks.middleware,
        machine_checks.interfaces,
        machine_checks.clocks,
        machine_checks.models,
        machine_checks.battery,
        word_checks.vocabulary,
        word_checks.signs,
    ):
        found += check(seen)
    unique = list(dict.fromkeys(found))
    return sorted(unique, key=lambda finding: -finding.level)


def worst(found: list[Finding]) -> Level:
    """Return the level of the worst finding, NOTE where there is none."""
    return max((finding.level for finding in found), default=Level.NOTE)
