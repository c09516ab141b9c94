"""Connections by who has come: strangers share few places for a short time, and take none from those who are known."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

STRANGER_LASTS = 5.0  # s from the connection, TLS included, to a request that shows who it is of
MOST_STRANGERS = (
    256  # the longest waiting one goes; many more than are taken at once, so that nobody goes unheard
)
MOST_OF_ONE = 48  # connections of one session or agent; the oldest goes
MOST_KNOWN = 256  # of all of them; the oldest of whoever has most goes


class Connection(Protocol):
    """Something that can be ended at once, such as a transport of asyncio."""

    def abort(self) -> None: ...


class Visitors:
    """The connections that are no sockets of pages, bounded whoever comes. Used on the web server's loop alone."""

    def __init__(self) -> None:
        self.strangers: OrderedDict[Connection, float] = OrderedDict()  # -> s when it came
        self.known: dict[str, OrderedDict[Connection, None]] = {}
        self._name: dict[Connection, str] = {}

    def come(self, connection: Connection, now: float) -> None:
        """Count a new connection, of nobody known yet."""
        self.strangers[connection] = now
        if len(self.strangers) > MOST_STRANGERS:
            self._end(next(iter(self.strangers)))

    def know(self, connection: Connection, name: str) -> None:
        """Count a connection as somebody's: a session's, an agent's, or that of a link which is one of ours."""
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
        """Return whether a connection is counted."""
        return connection in self.strangers or connection in self._name

    def go(self, connection: Connection) -> None:
        """Forget a connection that has ended, or has become a page's socket."""
        self.strangers.pop(connection, None)
        name = self._name.pop(connection, None)
        if name is not None:
            del self.known[name][connection]
            if not self.known[name]:
                del self.known[name]

    def sweep(self, now: float) -> None:
        """End the strangers whose time is over."""
        for connection, came in list(self.strangers.items()):
            if now - came <= STRANGER_LASTS:
                break
            self._end(connection)

    def _end(self, connection: Connection) -> None:
        self.go(connection)
        connection.abort()
