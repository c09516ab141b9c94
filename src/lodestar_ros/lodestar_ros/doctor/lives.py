"""Last words of each node, with the process that said them: a dead one's word is not its successor's."""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestar_ros.doctor.findings import NodeChange, Status
from lodestar_ros.twins import Identity

#: Seconds without a status after which a node is silent; chosen: it says one each second, and machines are busy.
SILENT = 5.0
#: Seconds in which a process that runs is heard again; chosen: its period and a late message.
FRESH = 2.5


@dataclass
class _Life:
    """One process. begun: when it started, on our clock; a late message says a later time, so the least is right."""

    begun: float
    heard: float
    status: Status


@dataclass
class NodeLives:
    """Statuses by node and process. Times are seconds of one steady clock, of the call. Not safe for threads."""

    _lives: dict[str, dict[str, _Life]] = field(default_factory=dict)  # by node and token of the process

    def take(self, name: str, process: Identity | None, status: Status, now: float) -> None:
        """Note what a node said; messages of two processes may come in any order. process: None = it does not say."""
        token, uptime = ("", 0.0) if process is None else (process.token, process.uptime)
        lives = self._lives.setdefault(name, {})
        life = lives.get(token)
        if life is None:
            lives[token] = _Life(now - uptime, now, status)
        else:
            life.begun, life.heard, life.status = min(life.begun, now - uptime), now, status

    def statuses(self, now: float) -> dict[str, Status]:
        """Return what the running process of each node said last; nothing of one that is silent."""
        newest = {name: self._newest(name, now) for name in self._lives}
        return {
            name: life.status
            for name, (token, life) in newest.items()
            if not token or now - life.heard <= SILENT
        }

    def changes(self, now: float) -> dict[str, NodeChange]:
        """Return which nodes have ended, or were started again, since they were first heard."""
        found: dict[str, NodeChange] = {}
        for name, lives in self._lives.items():
            token, life = self._newest(name, now)
            if token and now - life.heard > SILENT:
                found[name] = NodeChange(silent=now - life.heard)
            elif any(
                other.heard
                < max(life.begun, min(life.begun + FRESH, now - SILENT))  # its last word may be late
                for mark, other in lives.items()
                if mark not in ("", token)
            ):
                found[name] = NodeChange(restarted=now - life.begun)
        return found

    def _newest(self, name: str, now: float) -> tuple[str, _Life]:
        """Return the process that began last of those that were just heard; without any, the one that was heard last.

        When one began is not sure where its only word was late.
        """
        lives = self._lives[name].items()
        fresh = [one for one in lives if now - one[1].heard <= FRESH]
        if fresh:
            return max(fresh, key=lambda one: one[1].begun)
        return max(lives, key=lambda one: one[1].heard)
