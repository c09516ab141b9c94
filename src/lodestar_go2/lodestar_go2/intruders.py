"""Description of other nodes that command the robot."""

from __future__ import annotations


def intrusion(commands: list[str], requests: list[str]) -> str:
    """Return why the robot must stand; "" if no other node commands it.

    commands: other nodes that publish on the base's velocity topic. requests: other nodes that publish sport
    requests.
    """
    if commands:
        return f"{', '.join(commands)} publishes velocities past motion_gate: stop it, or remap it to cmd_vel"
    if requests:
        return f"{', '.join(requests)} sends sport requests past go2_base: stop it"
    return ""
