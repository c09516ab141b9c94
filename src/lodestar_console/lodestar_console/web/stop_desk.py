"""STOP of every page and agent: sent on at once, and a flood of it as few.

Nobody is told that the robot is held or stands by what was heard before the press: the gate answers each STOP that is
sent, and motion counts as measured from then on.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from weakref import WeakSet

from lodestar_console.web.stack_port import Stack

PERIOD = 0.1  # s between two that are sent on; those pressed meanwhile are sent as one at its end
GATE_PATIENCE = 1.0  # s in which the motion gate answers, or is taken for dead
LOOK = 0.05  # s between two looks whether the robot stands
NO_ANSWER = "No answer from motion_gate: use the robot's hardware stop."


@dataclass(frozen=True, eq=False)
class SentStop:
    """A STOP on its way. at: s (monotonic) when it was sent; answer: whether the gate holds, by its own word.

    released: set where somebody has resumed the robot since.
    """

    at: float
    answer: asyncio.Future[bool]
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def is_held(self, seconds: float = GATE_PATIENCE) -> bool:
        """Return whether the gate has said so within some seconds."""
        await asyncio.wait((self.answer,), timeout=seconds)
        return self.answer.done() and self.answer.exception() is None and self.answer.result()


class StopDesk:
    """Sends STOP on. Used on the web server's loop alone."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._free_at = 0.0
        self._next: asyncio.Task[SentStop] | None = None
        self._sent: WeakSet[SentStop] = WeakSet()  # those that somebody watches

    async def press(self) -> SentStop:
        """Send STOP, now or with all that are pressed until the period ends; return when it is sent."""
        if self._next is None:
            wait = self._free_at - time.monotonic()
            if wait <= 0.0:
                return self._send()
            self._next = asyncio.ensure_future(self._send_after(wait))
        return await asyncio.shield(self._next)  # whoever pressed may go; it is sent

    def release(self, before: float) -> None:
        """Tell whoever watches a STOP of before a time (s, monotonic) that the robot was resumed."""
        for sent in self._sent:
            if sent.at < before:
                sent.released.set()

    async def stands(self, sent: SentStop, seconds: float) -> bool:
        """Return whether the robot is measured to stand within some seconds, by what was heard after the STOP."""
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
        sent = SentStop(at, self._stack.stop())
        self._sent.add(sent)
        return sent
