"""The connected clients: their sessions, the streams they want, and their wake-up when the board changes."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress

from lodestar_console import protocol
from lodestar_console.access.door_keeper import DoorKeeper
from lodestar_console.access.sessions import Session
from lodestar_console.board.board import Board
from lodestar_console.web.frames import FrameCache
from lodestar_console.web.stack_port import Stack, Wishes
from lodestar_console.web.stop_desk import StopDesk

LEASE_PERIOD = 0.5  # s between two checks whether the lease has ended


class Waker:
    """Wake-up signal of one client; several signals before it wakes count as one."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def wake(self) -> None:
        """Wake the client. Called on the loop."""
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Wait for the next wake-up, at most `seconds`."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)
        self._event.clear()


class Hub:
    """State shared by all sockets. Used on the web server's loop, except for `_note`, called by the board."""

    def __init__(self, board: Board, stack: Stack, door: DoorKeeper) -> None:
        self.board, self.stack, self.door = board, stack, door
        self.sockets: Counter[str] = Counter()  # number of open sockets by session and kind
        self.frames = FrameCache()
        self.stop = StopDesk(stack)
        self._people: dict[str, tuple[Session, int]] = {}
        self._wakers: set[Waker] = set()
        self._wants: dict[Waker, protocol.Wanted] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._noted = False
        self._offered: frozenset[str] = frozenset()
        board.listen(self._note)

    async def run(self) -> None:
        """Store the running loop for wake-ups, and end expired leases until cancelled."""
        self._loop = asyncio.get_running_loop()
        while True:
            self.lease()
            self.show_people()
            await asyncio.sleep(LEASE_PERIOD)

    def _note(self) -> None:
        """Schedule a wake-up of all clients. Called at each change of the board, from any thread."""
        if self._loop is not None and not self._noted:
            self._noted = True
            try:
                self._loop.call_soon_threadsafe(self._wake)
            except RuntimeError:  # the loop is closed
                self._loop = None

    def _wake(self) -> None:
        self._noted = False
        for waker in self._wakers:
            waker.wake()

    def join(self, waker: Waker) -> None:
        """Register a client for wake-ups."""
        self._wakers.add(waker)

    def leave(self, waker: Waker) -> None:
        """Remove a client and the streams it wants."""
        self._wakers.discard(waker)
        if self._wants.pop(waker, None) is not None:
            self._tell_wishes()

    def want(self, waker: Waker, wanted: protocol.Wanted) -> None:
        """Store which streams a client wants."""
        self._wants[waker] = wanted
        self._tell_wishes()

    def _tell_wishes(self) -> None:
        wanted = self._wants.values()
        self.stack.want(
            Wishes(
                cloud=any(one.cloud for one in wanted),
                looks=any(one.looks for one in wanted),
                memories=any(one.memories for one in wanted),
                camera=max((min(one.hz, 10.0) for one in wanted if one.camera), default=0.0),
            )
        )

    # --- operators ------------------------------------------------------------------------------------

    def come(self, session: Session) -> None:
        """Register an opened page of a session."""
        _, count = self._people.get(session.id, (session, 0))
        self._people[session.id] = session, count + 1
        self.show_people()

    def go(self, session: Session) -> None:
        """Register a closed page of a session; if it was the last one, shorten the session's lease."""
        _, count = self._people.get(session.id, (session, 0))
        if count > 1:
            self._people[session.id] = session, count - 1
        else:
            self._people.pop(session.id, None)
            self.door.lease.leave(session.id, self.door.steady())
            self.lease()
        self.show_people()

    def offer(self, agent: str, offered: bool) -> None:
        """Allow or forbid an agent to take the lease."""
        self._offered = self._offered | {agent} if offered else self._offered - {agent}
        self.show_people()
        self.lease()

    def show_people(self) -> None:
        """Update the page's part ``operators``."""
        people = [
            protocol.Operator(name=one.name, role=one.role, since=one.since, agent=one.agent)  # type: ignore[arg-type]
            for one, _ in self._people.values()
        ]
        agents = self.door.agents.names()
        self.door.lease.offer(self._offered.intersection(agents))  # a removed agent loses its lease
        self.board.set(
            "operators", protocol.Operators(people=people, agents=agents, offered=sorted(self._offered))
        )

    def lease(self) -> protocol.Lease | None:
        """Update the page's part ``lease`` and return the lease, None = no holder."""
        steady = self.door.steady()
        held = self.door.lease.current(steady)
        lease = None
        if held is not None:
            until = round(self.board.now() + held.until - steady)
            lease = protocol.Lease(holder=held.name, until=until, agent=held.agent)
        self.board.set("lease", protocol.LeaseState(lease=lease))
        return lease
