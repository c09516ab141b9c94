"""The QoS profiles of every topic; ARCHITECTURE.md says which topic has which."""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy


def _profile(depth: int, *, reliable: bool, latched: bool = False) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def _alive(lease: float) -> QoSProfile:
    """Return the profile of a topic that carries nothing but the liveliness of its publisher."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=1,
        reliability=ReliabilityPolicy.RELIABLE,
        liveliness=LivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration=Duration(seconds=lease),
    )


#: Its publisher counts as dead two seconds after its process was killed, and at once where it ends.
OWNER = _alive(2.0)
SENSOR = _profile(5, reliable=False)
#: Streams that are delivered reliably, but of which only the newest messages matter.
RELIABLE = _profile(5, reliable=True)
COMMAND = _profile(1, reliable=True)
LATCHED = _profile(1, reliable=True, latched=True)
EVENT = _profile(10, reliable=True)
#: Events whose newest hundred also reach a listener that joins late.
HISTORY = _profile(100, reliable=True, latched=True)
#: tf2's own profiles: a listener that joins late needs every static transform, each publisher latches its own.
TF = _profile(100, reliable=True)
#: For listeners that need the newest only: a queue would delay it on a busy machine.
TF_NEWEST = _profile(10, reliable=True)
TF_STATIC = _profile(100, reliable=True, latched=True)

#: By the names that ARCHITECTURE.md's table uses.
PROFILES = {
    "SENSOR": SENSOR,
    "RELIABLE": RELIABLE,
    "COMMAND": COMMAND,
    "LATCHED": LATCHED,
    "EVENT": EVENT,
    "HISTORY": HISTORY,
    "TF": TF,
    "OWNER": OWNER,
}


def unheard_because(offered: QoSProfile, asked: QoSProfile) -> str:
    """Return why a subscription that asks for a profile hears nothing of a publisher, "" where it hears it."""
    if (
        asked.reliability is ReliabilityPolicy.RELIABLE
        and offered.reliability is ReliabilityPolicy.BEST_EFFORT
    ):
        return "best effort, and reliable delivery is needed"
    latched = asked.durability is DurabilityPolicy.TRANSIENT_LOCAL
    if latched and offered.durability is DurabilityPolicy.VOLATILE:
        return "volatile, and transient_local durability is needed, so that late listeners get it"
    return ""
