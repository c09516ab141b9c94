"""The lease: one commands at a time, everybody may stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

LASTS = 120.0  # s without a sign of the holder after which a lease ends
AGENT_LASTS = 60.0  # s, of an agent
LEFT_LASTS = 15.0  # s, after the last page of an operator has gone


@dataclass(frozen=True)
class Holding:
    """A lease. holder: id of the session; until: s of the clock that the book is given."""

    holder: str
    name: str
    until: float
    agent: bool = False


class LeaseRefused(Exception):
    """The lease is another's; the message says whose."""


class LeaseBook:
    """The one lease. on_end(holding): an agent's lease ended without its release, by expiry or by an operator."""

    def __init__(self, on_end: Callable[[Holding], None] = lambda _: None) -> None:
        self._lock = threading.Lock()
        self._held: Holding | None = None
        self._offered: frozenset[str] = frozenset()  # names of agents that may take it
        self._on_end = on_end

    def current(self, now: float) -> Holding | None:
        """Return the lease, None where nobody commands."""
        ended = None
        with self._lock:
            if self._held is not None and now > self._held.until:
                ended, self._held = self._held, None
            held = self._held
        if ended is not None and ended.agent:
            self._on_end(ended)
        return held

    def take(self, holder: str, name: str, now: float, *, agent: bool = False) -> Holding:
        """Take or renew the lease. An operator takes it from an agent, nobody from an operator. Raises LeaseRefused."""
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
        """Renew the lease where it is the holder's; return whether it is."""
        held = self.current(now)
        if held is None or held.holder != holder:
            return False
        self.take(holder, held.name, now, agent=held.agent)
        return True

    def release(self, holder: str, now: float) -> bool:
        """Give the lease back; return whether it was the holder's."""
        held = self.current(now)
        with self._lock:
            if held is None or self._held is None or self._held.holder != holder:
                return False
            self._held = None
        return True

    def leave(self, holder: str, now: float) -> None:
        """Let an operator's lease end soon: their last page has gone, and may come back."""
        with self._lock:
            held = self._held
            if held is not None and held.holder == holder and not held.agent:
                self._held = Holding(holder, held.name, min(held.until, now + LEFT_LASTS))

    def offer(self, names: frozenset[str]) -> None:
        """Let these agents take the lease while nobody has it; an agent that is none of them any more loses it."""
        ended = None
        with self._lock:
            self._offered = names
            if self._held is not None and self._held.agent and self._held.name not in names:
                ended, self._held = self._held, None
        if ended is not None:
            self._on_end(ended)
