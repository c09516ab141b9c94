"""The QoS profiles of every topic; docs/interfaces.md says which topic has which."""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, HistoryPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

try:
    from rclpy.event_handler import SubscriptionEventCallbacks
except ImportError:  # Humble has it in another module
    from rclpy.qos_event import SubscriptionEventCallbacks


def _profile(depth: int, *, reliable: bool, latched: bool = False) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def _alive(lease: float) -> QoSProfile:
    """Return the profile of a topic that only shows the liveliness of its publisher. lease: seconds."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=1,
        reliability=ReliabilityPolicy.RELIABLE,
        liveliness=LivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration=Duration(seconds=lease),
    )


#: For a subscription that is destroyed while its node runs: rclpy's events executor (9.1) crashes where an event of it
#: is on its way meanwhile. For the same reason a running node never destroys a client or a server of an action.
NO_EVENTS = SubscriptionEventCallbacks(use_default_callbacks=False)
#: For owners: the publisher counts as dead 0.6 s after its process was killed, and at once if it ends. DDS asserts it
#: every 0.4 s, so that a busy machine misses several assertions before `ClientConfig.grace` is over.
OWNER = _alive(0.6)
SENSOR = _profile(5, reliable=False)
#: Streams that are delivered reliably, but of which only the newest messages matter.
RELIABLE = _profile(5, reliable=True)
COMMAND = _profile(1, reliable=True)
LATCHED = _profile(1, reliable=True, latched=True)
EVENT = _profile(10, reliable=True)
#: Events whose newest hundred also reach a subscription that is created later.
HISTORY = _profile(100, reliable=True, latched=True)
#: tf2's own profiles: a late subscription needs every static transform, and each publisher latches its own.
TF = _profile(100, reliable=True)
#: For subscriptions that need only the newest transforms: a queue would delay them on a busy machine.
TF_NEWEST = _profile(10, reliable=True)
TF_STATIC = _profile(100, reliable=True, latched=True)

#: Profiles by the names in docs/interfaces.md.
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
    """Return why a subscription with this profile receives nothing from a publisher; "" if they are compatible."""
    if (
        asked.reliability is ReliabilityPolicy.RELIABLE
        and offered.reliability is ReliabilityPolicy.BEST_EFFORT
    ):
        return "best effort, and reliable delivery is needed"
    latched = asked.durability is DurabilityPolicy.TRANSIENT_LOCAL
    if latched and offered.durability is DurabilityPolicy.VOLATILE:
        return "volatile, and transient_local durability is needed, so that late listeners get it"
    return ""
