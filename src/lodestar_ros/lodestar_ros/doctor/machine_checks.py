"""Checks of the computer and of the processes' environment."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator

from lodestar.experts.registry import FRONTIER
from lodestar_ros.doctor.findings import Finding, Level, Observation
from lodestar_ros.doctor.graph_checks import CORE, deciding, listed

SHM = 128.0  # MiB of free shared memory that a stack needs; chosen
DISK = 1024.0  # MiB of free disk for keyframes, memory and logs; chosen
_ROBOT_TYPES = "unitree_go/"  # message package of the robot's own topics


def space(seen: Observation) -> Iterator[Finding]:
    """Find too little shared memory or disk."""
    machine = seen.machine
    if machine.shm_free < SHM:
        yield Finding(
            Level.FAULT, "shared_memory", f"/dev/shm has {machine.shm_free:.0f} MiB left: images get lost.",
            "give the container --shm-size=2g or --ipc=host, or remove stale files there",
        )  # fmt: skip
    if machine.disk_free < DISK:
        yield Finding(
            Level.WARNING, "disk", f"{machine.disk_path} has {machine.disk_free:.0f} MiB left.",
            "make room: keyframes, memory and logs grow up to their bounds",
        )  # fmt: skip


def middleware(seen: Observation) -> Iterator[Finding]:
    """Find processes that cannot reach each other because of different environments."""
    machine, local = seen.machine, seen.machine.processes
    elsewhere: dict[str, list[str]] = {}
    for process in local:
        if (
            process.domain != machine.domain
            and process.name in (*CORE, *deciding())
            and not seen.runs(process.name)
        ):
            elsewhere.setdefault(process.domain, []).append(process.name)
    for domain, names in elsewhere.items():
        what = f"{listed(names)} {'runs' if len(names) == 1 else 'run'} here in ROS domain {domain}"
        yield Finding(
            Level.FAULT, "domains", f"{what}, and this is domain {machine.domain}.",
            "start all, and the doctor, from one shell with one ROS_DOMAIN_ID",
        )  # fmt: skip
    ours = [process for process in local if process.domain == machine.domain]
    used = {process.rmw or "default" for process in ours} | ({machine.rmw or "default"} if ours else set())
    if len(used) > 1:
        told = ", ".join(sorted(f"{p.name}: {p.rmw or 'default'}" for p in ours)[:4])
        yield Finding(
            Level.FAULT, "middlewares", f"Several middlewares are in use: {told}; here: {machine.rmw or 'default'}.",
            "start all from one shell, with one RMW_IMPLEMENTATION",
        )  # fmt: skip
    confined = min((process.confined for process in ours if process.confined), default="")
    deaf = _heard_by_base(seen)
    if deaf and not any(seen.publishers.get(topic) for topic in deaf):
        reason = f" {confined} keeps the stack on this computer." if confined else ""
        also = " and ROS_LOCALHOST_ONLY=0" if confined.startswith("ROS_LOCALHOST_ONLY") else ""
        yield Finding(
            Level.FAULT, "no_robot", f"No topic of the robot arrives ({', '.join(deaf)}).{reason}",
            f"export ROS_AUTOMATIC_DISCOVERY_RANGE=SUBNET{also} before env.sh, and name the interface "
            "(docs/how-to/go2.md)",
        )  # fmt: skip
    if not machine.multicast:
        yield Finding(
            Level.WARNING, "multicast", "The loopback interface has no multicast: nodes may not find each other.",
            "sudo ip link set lo multicast on",
        )  # fmt: skip


def _heard_by_base(seen: Observation) -> list[str]:
    """Return the robot's topics that go2_base subscribes to, also if a bridge renamed them."""
    base = seen.full("go2_base")
    return [
        topic
        for topic, readers in seen.subscriptions.items()
        if any(one.node == base and one.type.startswith(_ROBOT_TYPES) for one in readers)
    ]


def interfaces(seen: Observation) -> Iterator[Finding]:
    """Find interfaces that CycloneDDS is configured to use and that do not exist."""
    machine = seen.machine
    for name in machine.wanted_interfaces:
        if name not in machine.interfaces:
            near = difflib.get_close_matches(name, machine.interfaces, n=1)
            yield Finding(
                Level.FAULT, "wrong_interface",
                f"CYCLONEDDS_URI names the interface {name}, which this computer does not have"
                f"{f'; the nearest is {near[0]}' if near else ''}.",
                f"take the one on the robot's cable: {', '.join(machine.interfaces)} (ip address)",
            )  # fmt: skip


def clocks(seen: Observation) -> Iterator[Finding]:
    """Find nodes on different clocks."""
    given = {
        node: values["use_sim_time"] for node, values in seen.parameters.items() if "use_sim_time" in values
    }
    simulated = sorted(node for node, value in given.items() if value)
    real = sorted(node for node, value in given.items() if not value)
    if simulated and real:
        few, others = sorted((simulated, real), key=len)
        yield Finding(
            Level.FAULT, "mixed_clocks",
            f"{', '.join(few[:3])} has use_sim_time {str(few is simulated).lower()}, {len(others)} others have not.",
            "set use_sim_time alike on every node",
        )  # fmt: skip
    if simulated and not seen.publishers.get("/clock"):
        yield Finding(
            Level.FAULT, "no_clock", "Nodes wait for /clock, and nobody publishes it.",
            "start the simulator or the replay, or set use_sim_time: false",
        )  # fmt: skip


def models(seen: Observation) -> Iterator[Finding]:
    """Find missing or invalid weights, and a torch that cannot use the GPU of a Jetson."""
    for node, (path, head) in seen.weights.items():
        if head is None:
            yield Finding(
                Level.FAULT, "no_weights", f"{node}: the weights {path} are not there.",
                "copy them there, or set `model` (docs/how-to/go2.md, section 2)",
            )  # fmt: skip
        elif head.lstrip()[:1] == b"<" or head[:7] == b"version":
            kind = "a Git LFS pointer" if head[:7] == b"version" else "a web page"
            yield Finding(
                Level.FAULT, "bad_weights", f"{node}: {path} is {kind}, no weights.",
                "download the file itself, not the page around it",
            )  # fmt: skip
    if seen.machine.jetson and seen.machine.cuda is False:
        yield Finding(
            Level.WARNING, "no_cuda", "This is a Jetson, and torch finds no CUDA device.",
            "install NVIDIA's build of torch for its JetPack",
        )  # fmt: skip


def battery(seen: Observation) -> Iterator[Finding]:
    """Find a battery that is not counted, or not reported, or low."""
    found = {
        name: seen.parameters.get(seen.full(name), {})
        for name in ("goal_selector", f"{FRONTIER.name}_expert")
    }
    ranges = {name: values.get("battery.full_range") for name, values in found.items()}
    counted = [name for name, value in ranges.items() if isinstance(value, float) and value > 0.0]
    endless = [name for name, value in ranges.items() if isinstance(value, float) and value <= 0.0]
    status = seen.diagnostics.get("go2_base")
    charge = status[2].get("battery", "") if status else ""
    if counted:
        told = bool(seen.publishers.get(seen.full("battery")))
        if not told or charge == "unknown":
            who = "go2_base hears no /lowstate" if told else "nobody publishes battery"
            yield Finding(
                Level.WARNING, "no_battery", f"battery.full_range is set, and {who}.",
                "start the base's driver, or set battery.full_range to 0",
            )  # fmt: skip
    if endless and found["goal_selector"].get("use_sim_time") is not True:  # no simulator
        yield Finding(
            Level.WARNING, "no_energy_limit",
            f"battery.full_range of {listed(endless)} is 0: the robot walks until its battery is empty.",
            "set the metres that a full battery drives (config/go2.yaml)",
        )  # fmt: skip
    if charge.endswith("%") and math.isfinite(value := _percent(charge)) and value <= 20.0:
        yield Finding(
            Level.WARNING, "low_battery", f"The battery has {charge}.", "charge it before the next walk"
        )


def _percent(text: str) -> float:
    try:
        return float(text.rstrip("%"))
    except ValueError:
        return math.nan
