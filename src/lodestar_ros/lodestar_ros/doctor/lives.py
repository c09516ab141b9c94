"""Newest diagnostics of each node, kept by process, so that a dead process's status is not taken for its
successor's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar_ros.doctor.findings import NodeChange, Status
from lodestar_ros.twins import Identity

#: Seconds without a status after which a node is silent; chosen: the period is 1 s, and machines are busy.
SILENT = 5.0
#: Seconds within which a running process sends a status; chosen: its period and a delay.
FRESH = 2.5


@dataclass
class _Life:
    """One process of a node.

    begun: its start on the doctor's clock, the earliest estimate, because a delayed message gives a later
    one. before: values of the status before the newest.
    """

    begun: float
    heard: float
    status: Status
    before: dict[str, str] = field(default_factory=dict)


@dataclass
class NodeLives:
    """Statuses by node and process. Times are seconds of one steady clock, passed by the caller. Not safe for
    threads.
    """

    # node -> token of the process -> its life
    _lives: dict[str, dict[str, _Life]] = field(default_factory=dict)

    def take(self, name: str, process: Identity | None, status: Status, now: float) -> None:
        """Store a node's status; messages of two processes may come in any order. process: None = unknown."""
        token, uptime = ("", 0.0) if process is None else (process.token, process.uptime)
        lives = self._lives.setdefault(name, {})
        life = lives.get(token)
        if life is None:
            lives[token] = _Life(now - uptime, now, status)
        else:
            life.begun, life.heard = min(life.begun, now - uptime), now
            life.before, life.status = life.status[2], status

    def statuses(self, now: float) -> dict[str, Status]:
        """Return the newest status of each node's running process, without silent nodes."""
        newest = {name: self._newest(name, now) for name in self._lives}
        return {
            name: life.status
            for name, (token, life) in newest.items()
            if not token or now - life.heard <= SILENT
        }

    def before(self, now: float) -> dict[str, dict[str, str]]:
        """Return the values of the last status but one of each node's running process; none if it has one."""
        return {name: self._newest(name, now)[1].before for name in self._lives}

    def changes(self, now: float) -> dict[str, NodeChange]:
        """Return the nodes that ended or were restarted since their first status."""
        found: dict[str, NodeChange] = {}
        for name, lives in self._lives.items():
            token, life = self._newest(name, now)
            if token and now - life.heard > SILENT:
                found[name] = NodeChange(silent=now - life.heard)
            elif any(
                other.heard
                < max(life.begun, min(life.begun + FRESH, now - SILENT))  # its last status may arrive late
                for mark, other in lives.items()
                if mark not in ("", token)
            ):
                found[name] = NodeChange(restarted=now - life.begun)
        return found

    def _newest(self, name: str, now: float) -> tuple[str, _Life]:
        """Return token and life of the last-started process that was heard within `FRESH` seconds.

        If there is none, return those of the process heard last. The start of a process is uncertain if its
        only status came late.
        """
        lives = self._lives[name].items()
        fresh = [one for one in lives if now - one[1].heard <= FRESH]
        if fresh:
            return max(fresh, key=lambda one: one[1].begun)
        return max(lives, key=lambda one: one[1].heard)
