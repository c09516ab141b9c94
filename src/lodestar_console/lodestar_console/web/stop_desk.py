"""STOP of all pages and agents: sent at once, at a limited rate.

"Held" and "stands" are reported only from data received after the press of STOP: the motion gate answers each
STOP, and only motion measured after it counts.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from weakref import WeakSet

from lodestar_console.web.stack_port import Stack

PERIOD = 0.1  # s between two STOPs sent; presses in between are sent as one
GATE_PATIENCE = 1.0  # s within which the motion gate must answer, else it counts as dead
LOOK = 0.05  # s between two checks whether the robot stands
NO_ANSWER = "No answer from motion_gate: use the robot's hardware stop."


@dataclass(frozen=True, eq=False)
class SentStop:
    """A STOP that was sent. at: time of sending, s (monotonic).

    answer: whether the motion gate blocks all motion. released: set when somebody resumes the robot.
    """

    at: float
    answer: asyncio.Future[bool]
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def is_held(self, seconds: float = GATE_PATIENCE) -> bool:
        """Return whether the motion gate confirms within `seconds` that it blocks all motion."""
        await asyncio.wait((self.answer,), timeout=seconds)
        return self.answer.done() and self.answer.exception() is None and self.answer.result()


class StopDesk:
    """Send STOP to the stack at a limited rate. Used on the web server's loop only."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._free_at = 0.0
        self._next: asyncio.Task[SentStop] | None = None
        self._pressed: dict[str, None] = {}  # names of people whose presses the next STOP covers, in order
        self._sent: WeakSet[SentStop] = WeakSet()  # STOPs still referenced by a page

    async def press(self, who: str) -> SentStop:
        """Send STOP at once, or up to `PERIOD` later; return the sent STOP. who: name of the sender."""
        self._pressed[who] = None
        if self._next is None:
            wait = self._free_at - time.monotonic()
            if wait <= 0.0:
                return self._send()
            self._next = asyncio.ensure_future(self._send_after(wait))
        return await asyncio.shield(self._next)  # sent even if the caller is cancelled

    def release(self, before: float) -> None:
        """Mark the STOPs sent before a time (s, monotonic) as released."""
        for sent in self._sent:
            if sent.at < before:
                sent.released.set()

    async def stands(self, sent: SentStop, seconds: float) -> bool:
        """Return whether measurements after the STOP show, within `seconds`, that the robot stands still."""
        end = time.monotonic() + seconds
        while not self._stack.stands(sent.at):
            if time.monotonic() >= end:
                return False
            await asyncio.sleep(LOOK)
        return True

    async def _send_after(self, wait: float) -> SentStop:
        await asyncio.sleep(wait)
        self._next = None
        return self._send()

    def _send(self) -> SentStop:
        at = time.monotonic()
        self._free_at = at + PERIOD
        who, self._pressed = " and ".join(self._pressed), {}
        sent = SentStop(at, self._stack.stop(who))
        self._sent.add(sent)
        return sent
