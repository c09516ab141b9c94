"""Access control of the console: the only interface by which the web server checks sessions and permissions."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import parse_qs

from lodestar_console.access.keys import LinkDesk, secret_of
from lodestar_console.access.lease import Holding, LeaseBook
from lodestar_console.access.limits import CALLS, ENTRIES, REQUESTS, Buckets
from lodestar_console.access.origins import Origins
from lodestar_console.access.sessions import AgentBook, Session, SessionBook
from lodestar_console.access.visitors import Visitors


class DoorKeeper:
    """Access control of one console: links, sessions, agents, lease and rate limits.

    folder: private folder of the console. on_lease_end: see `LeaseBook`.
    """

    def __init__(
        self,
        folder: Path,
        origins: Origins,
        on_lease_end: Callable[[Holding], None] = lambda _: None,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.origins = origins
        #: Contains the port, because browsers share cookies between the ports of a host.
        self.cookie = f"lodestar_session_{origins.port}"
        self.links = LinkDesk(folder, secret_of(folder))
        self.sessions, self.agents = SessionBook(folder, origins.port), AgentBook(folder)
        self.lease = LeaseBook(on_lease_end)
        self.requests, self.calls, self.entries = Buckets(REQUESTS), Buckets(CALLS), Buckets(ENTRIES)
        self.visitors = Visitors()
        self.wall, self.steady = wall, steady

    def session_of(self, headers: Mapping[str, str]) -> Session | None:
        """Return the session of a request's cookie, without renewing it; None if there is none."""
        return self.sessions.find(self._cookie(headers), self.wall())

    def renew(self, headers: Mapping[str, str]) -> None:
        """Renew the session of a request's cookie after an action of a person; automatic requests do not renew it."""
        self.sessions.renew(self._cookie(headers), self.wall())

    def end(self, headers: Mapping[str, str]) -> None:
        """End the session of a request's cookie."""
        self.sessions.end(self._cookie(headers), self.wall())

    def _cookie(self, headers: Mapping[str, str]) -> str:
        for pair in headers.get("cookie", "")[:4096].split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self.cookie:
                return value
        return ""

    def known_as(self, headers: Mapping[str, str], path: str, query: str) -> str:
        """Return the name for `Visitors` of a request's connection, "" if it is not authenticated."""
        who = self.session_of(headers) or self.agent_of(headers)
        if who is not None:
            return who.id
        key = parse_qs(query).get("key", [""])[0] if path == "/enter" else ""
        return "link" if key and self.links.is_good(key, self.wall()) else ""

    def agent_of(self, headers: Mapping[str, str]) -> Session | None:
        """Return the agent of a request's bearer token, or None."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return self.agents.find(token.strip()) if scheme.lower() == "bearer" else None
