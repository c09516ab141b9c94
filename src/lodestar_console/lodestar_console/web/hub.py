"""The clients of the sockets: who is there, what they want, and the wake-up of all when the board changes."""

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

LEASE_PERIOD = 0.5  # s between two looks whether the lease has ended


class Waker:
    """Wakes one client; several changes before it looks are one."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def wake(self) -> None:
        """Wake the client; on the loop."""
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Return after the next change, or after so many seconds."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)
        self._event.clear()


class Hub:
    """State that all sockets share. All on the loop, but the board's listener."""

    def __init__(self, board: Board, stack: Stack, door: DoorKeeper) -> None:
        self.board, self.stack, self.door = board, stack, door
        self.sockets: Counter[str] = Counter()  # open sockets by session and kind
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
        """Take the running loop for the one of all clients; end leases in time, until cancelled."""
        self._loop = asyncio.get_running_loop()
        while True:
            self.lease()
            self.show_people()
            await asyncio.sleep(LEASE_PERIOD)

    def _note(self) -> None:
        """Wake everybody soon; from any thread, and many times a second."""
        if self._loop is not None and not self._noted:
            self._noted = True
            try:
                self._loop.call_soon_threadsafe(self._wake)
            except RuntimeError:  # the loop has ended
                self._loop = None

    def _wake(self) -> None:
        self._noted = False
        for waker in self._wakers:
            waker.wake()

    def join(self, waker: Waker) -> None:
        """Wake this client from now on."""
        self._wakers.add(waker)

    def leave(self, waker: Waker) -> None:
        """Forget a client, and what it wanted."""
        self._wakers.discard(waker)
        if self._wants.pop(waker, None) is not None:
            self._tell_wishes()

    def want(self, waker: Waker, wanted: protocol.Wanted) -> None:
        """Note what a client wants to see."""
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

    # --- who is there ---------------------------------------------------------------------------------

    def come(self, session: Session) -> None:
        """Note a page, or an agent, that is there."""
        _, count = self._people.get(session.id, (session, 0))
        self._people[session.id] = session, count + 1
        self.show_people()

    def go(self, session: Session) -> None:
        """Note that a page has gone."""
        _, count = self._people.get(session.id, (session, 0))
        if count > 1:
            self._people[session.id] = session, count - 1
        else:
            self._people.pop(session.id, None)
            self.door.lease.leave(session.id, self.door.steady())
            self.lease()
        self.show_people()

    def offer(self, agent: str, offered: bool) -> None:
        """Let an agent take the lease, or no longer."""
        self._offered = self._offered | {agent} if offered else self._offered - {agent}
        self.show_people()
        self.lease()

    def show_people(self) -> None:
        """Show who is there."""
        people = [
            protocol.Operator(name=one.name, role=one.role, since=one.since, agent=one.agent)  # type: ignore[arg-type]
            for one, _ in self._people.values()
        ]
        agents = self.door.agents.names()
        self.door.lease.offer(self._offered.intersection(agents))  # one that was removed loses its lease
        self.board.set(
            "operators", protocol.Operators(people=people, agents=agents, offered=sorted(self._offered))
        )

    def lease(self) -> protocol.Lease | None:
        """Return the lease as pages see it, and show it."""
        steady = self.door.steady()
        held = self.door.lease.current(steady)
        lease = None
        if held is not None:
            until = round(self.board.now() + held.until - steady)
            lease = protocol.Lease(holder=held.name, until=until, agent=held.agent)
        self.board.set("lease", protocol.LeaseState(lease=lease))
        return lease
