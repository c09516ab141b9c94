"""The lease: only its holder may command the robot; every session may stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

LASTS = 120.0  # s without activity of the holder after which a lease ends
AGENT_LASTS = 60.0  # s likewise, for an agent
LEFT_LASTS = 15.0  # s likewise, after an operator closed their last page
AGENT_LEFT_LASTS = 2.0  # s likewise, after an agent left in the middle of a call


@dataclass(frozen=True)
class Holding:
    """A lease. holder: id of the session; until: expiry, s of the clock passed to `LeaseBook`."""

    holder: str
    name: str
    until: float
    agent: bool = False


class LeaseRefused(Exception):
    """The lease is held by another session; the message names its holder."""


class LeaseBook:
    """Manage the lease. on_end(holding) is called if an agent's lease expires or is revoked by an operator."""

    def __init__(self, on_end: Callable[[Holding], None] = lambda _: None) -> None:
        self._lock = threading.Lock()
        self._held: Holding | None = None
        self._offered: frozenset[str] = frozenset()  # names of agents that may take the lease
        self._on_end = on_end

    def current(self, now: float) -> Holding | None:
        """Return the current lease, None = no holder."""
        ended = None
        with self._lock:
            if self._held is not None and now > self._held.until:
                ended, self._held = self._held, None
            held = self._held
        if ended is not None and ended.agent:
            self._on_end(ended)
        return held

    def take(self, holder: str, name: str, now: float, *, agent: bool = False) -> Holding:
        """Take or renew the lease. An operator may take it from an agent; any other conflict raises LeaseRefused."""
        self.current(now)
        preempted = None
        with self._lock:
            held = self._held
            if held is not None and held.holder != holder:
                if agent or not held.agent:
                    raise LeaseRefused(f"{held.name} commands now; ask them to give the lease back, or wait")
                preempted = held
            if agent and held is None and name not in self._offered:
                raise LeaseRefused(
                    "no lease is offered to this agent; the operator offers it on the page, or the parameter "
                    "agents_may_drive names it"
                )
            lasts = AGENT_LASTS if agent else LASTS
            self._held = mine = Holding(holder, name, now + lasts, agent)
        if preempted is not None:
            self._on_end(preempted)
        return mine

    def renew(self, holder: str, now: float) -> bool:
        """Renew the lease if this session holds it; return whether it does."""
        held = self.current(now)
        if held is None or held.holder != holder:
            return False
        self.take(holder, held.name, now, agent=held.agent)
        return True

    def release(self, holder: str, now: float) -> bool:
        """Release the lease if this session holds it; return whether it did."""
        held = self.current(now)
        with self._lock:
            if held is None or self._held is None or self._held.holder != holder:
                return False
            self._held = None
        return True

    def leave(self, holder: str, now: float) -> None:
        """Shorten the lease of an operator who closed their last page, or of an agent that disconnected.

        A later command renews it.
        """
        with self._lock:
            held = self._held
            if held is not None and held.holder == holder:
                lasts = AGENT_LEFT_LASTS if held.agent else LEFT_LASTS
                self._held = replace(held, until=min(held.until, now + lasts))

    def offer(self, names: frozenset[str]) -> None:
        """Set the agents that may take a free lease; a holder no longer among them loses it."""
        ended = None
        with self._lock:
            self._offered = names
            if self._held is not None and self._held.agent and self._held.name not in names:
                ended, self._held = self._held, None
        if ended is not None:
            self._on_end(ended)
