"""Limits of open connections: unauthenticated ones ("strangers") are few and short, and never displace known ones."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

STRANGER_LASTS = 5.0  # s from connecting, TLS included, to an authenticated request
MOST_STRANGERS = 256  # beyond it the oldest stranger is closed; far more than are accepted at once
MOST_OF_ONE = 48  # connections of one session or agent; beyond it the oldest is closed
MOST_KNOWN = 256  # of all sessions; beyond it the oldest of the session with most is closed


class Connection(Protocol):
    """A connection that can be aborted, such as a transport of asyncio."""

    def abort(self) -> None: ...


class Visitors:
    """Open connections other than page sockets, in bounded number. Used on the web server's loop only.

    strangers: unauthenticated connections. known: authenticated ones, by name.
    """

    def __init__(self) -> None:
        self.strangers: OrderedDict[Connection, float] = OrderedDict()  # -> s, time of connecting
        self.known: dict[str, OrderedDict[Connection, None]] = {}
        self._name: dict[Connection, str] = {}

    def come(self, connection: Connection, now: float) -> None:
        """Register a new connection as unauthenticated; close the oldest of more than `MOST_STRANGERS`."""
        self.strangers[connection] = now
        if len(self.strangers) > MOST_STRANGERS:
            self._end(next(iter(self.strangers)))

    def know(self, connection: Connection, name: str) -> None:
        """Register a connection as authenticated.

        name: id of a session or agent, or "link" for a valid one-time link.
        """
        if self._name.get(connection) == name or not self.is_here(connection):
            return
        self.go(connection)
        self._name[connection] = name
        mine = self.known.setdefault(name, OrderedDict())
        mine[connection] = None
        if len(mine) > MOST_OF_ONE:
            self._end(next(iter(mine)))
        elif len(self._name) > MOST_KNOWN:
            most = max(self.known, key=lambda one: len(self.known[one]))
            self._end(next(iter(self.known[most])))

    def is_here(self, connection: Connection) -> bool:
        """Return whether a connection is registered."""
        return connection in self.strangers or connection in self._name

    def go(self, connection: Connection) -> None:
        """Remove a connection that has ended or become a page's socket."""
        self.strangers.pop(connection, None)
        name = self._name.pop(connection, None)
        if name is not None:
            del self.known[name][connection]
            if not self.known[name]:
                del self.known[name]

    def sweep(self, now: float) -> None:
        """Close the unauthenticated connections older than `STRANGER_LASTS`."""
        for connection, came in list(self.strangers.items()):
            if now - came <= STRANGER_LASTS:
                break
            self._end(connection)

    def _end(self, connection: Connection) -> None:
        self.go(connection)
        connection.abort()
