"""Sessions of pages and tokens of agents. Stored as digests; both survive a restart of the console."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from lodestar.storage.files import write_file
from lodestar_console.access.keys import digest

log = logging.getLogger("lodestar.console")

SESSION_LASTS = 12 * 3600.0  # s without an action of a person; then the session ends, even with open pages
MOST_SESSIONS = 100  # beyond it the least recently used session is dropped
SCOPES = ("look", "drive")
_NOTE_PERIOD = 300.0  # s between two updates of a session's time of last use


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """An authenticated page or agent. id: public id of the session; since, used: s of the wall clock."""

    id: str
    name: str
    role: str
    since: float
    used: float
    agent: bool = False
    scopes: tuple[str, ...] = ()


class _Stored(msgspec.Struct, frozen=True, kw_only=True):
    token: str  # digest of the cookie or token
    session: Session


class SessionBook:
    """Sessions of the console at one port, by digest of the cookie."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self._path = folder / f"sessions_{port}.json"
        self._lock = threading.Lock()
        self._sessions = {one.token: one.session for one in _read(self._path)}
        self._broken = ""

    def begin(self, role: str, now: float) -> tuple[str, Session]:
        """Create a session; return its cookie and the session."""
        cookie = secrets.token_urlsafe(32)
        with self._lock:
            number = 1 + max((int(s.name.split()[-1]) for s in self._sessions.values()), default=0)
            session = Session(
                id=secrets.token_hex(4), name=f"operator {number}", role=role, since=now, used=now
            )
            self._sessions[digest(cookie)] = session
            self._write(now)
        return cookie, session

    def find(self, cookie: str, now: float) -> Session | None:
        """Return the session of a cookie, None if it is unknown or has expired."""
        if not cookie or len(cookie) > 100:
            return None
        key = digest(cookie)
        with self._lock:
            session = self._sessions.get(key)
            if session is None:
                return None
            if now - session.used > SESSION_LASTS:
                del self._sessions[key]
                return None
            return session

    def renew(self, cookie: str, now: float) -> None:
        """Update the time of last use of a cookie's session, if there is one."""
        session = self.find(cookie, now)
        if session is None or now - session.used <= _NOTE_PERIOD:
            return
        key = digest(cookie)
        with self._lock:
            if key in self._sessions:
                self._sessions[key] = msgspec.structs.replace(session, used=now)
                self._write(now)

    def end(self, cookie: str, now: float) -> None:
        """End the session of a cookie for good."""
        with self._lock:
            if self._sessions.pop(digest(cookie), None) is not None:
                self._write(now)

    def _write(self, now: float) -> None:
        alive = sorted(self._sessions.items(), key=lambda item: -item[1].used)[:MOST_SESSIONS]
        self._sessions = {key: one for key, one in alive if now - one.used <= SESSION_LASTS}
        stored = [_Stored(token=key, session=one) for key, one in self._sessions.items()]
        try:
            write_file(self._path, [msgspec.json.encode(stored)], durable=False)  # on the web server's loop
        except OSError as error:  # STOP must work with a full disk too; a restart loses the sessions
            if not self._broken:
                log.error("the sessions of the console are not written: %s", error)
            self._broken = str(error)
        else:
            self._broken = ""


class AgentBook:
    """Tokens of agents, created by `python -m lodestar_console.agents`; reloaded when the file changes."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "agents.json"
        self._seen: tuple[int, int] | None = None
        self._agents: dict[str, Session] = {}

    def find(self, token: str) -> Session | None:
        """Return the agent of a token, None = unknown token."""
        self._read_again()
        return self._agents.get(digest(token)) if 0 < len(token) <= 200 else None

    def names(self) -> list[str]:
        """Return the names of all agents."""
        self._read_again()
        return sorted(one.name for one in self._agents.values())

    def add(self, name: str, scopes: Sequence[str], now: float) -> str:
        """Add or replace an agent and return its token. Raises ValueError for a bad name or scope."""
        if not name.isprintable() or not 0 < len(name.strip()) <= 40:
            raise ValueError("a name has 1 to 40 printable characters")
        unknown = sorted(set(scopes) - set(SCOPES))
        if unknown or not scopes:
            raise ValueError(f"scopes are some of {', '.join(SCOPES)}")
        self.remove(name)
        token = f"lodestar_{secrets.token_urlsafe(32)}"
        role = "command" if "drive" in scopes else "look"
        self._agents[digest(token)] = Session(
            id=secrets.token_hex(4),
            name=name.strip(),
            role=role,
            since=now,
            used=now,
            agent=True,
            scopes=tuple(scopes),
        )
        self._write()
        return token

    def remove(self, name: str) -> bool:
        """Remove an agent, which invalidates its token; return whether it existed."""
        self._read_again()
        kept = {key: one for key, one in self._agents.items() if one.name != name.strip()}
        gone = len(kept) < len(self._agents)
        self._agents = kept
        if gone:
            self._write()
        return gone

    def _write(self) -> None:
        stored = [_Stored(token=key, session=one) for key, one in self._agents.items()]
        write_file(self._path, [msgspec.json.encode(stored)])

    def _read_again(self) -> None:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            self._agents, self._seen = {}, None
            return
        if (seen := (found.st_mtime_ns, found.st_ino)) != self._seen:
            self._agents, self._seen = {one.token: one.session for one in _read(self._path)}, seen


def _read(path: Path) -> list[_Stored]:
    """Return the stored entries; empty if the file is missing or malformed, so that access is denied."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[_Stored])
    except (FileNotFoundError, msgspec.DecodeError):
        return []
