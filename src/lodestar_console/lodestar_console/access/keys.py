"""The console's secret and what is derived from it: one-time links, which any process of the same user can make."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import hmac
import os
import re
import secrets
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lodestar.storage.files import write_file
from lodestar.storage.private import UnsafeFolder, private_folder, state_home

LINK_LASTS = 60.0  # s that a one-time link can be used
MAX_AHEAD = 5.0  # s by which the clock of who made a link may be ahead
ADDRESS = "address"  # file in the folder, by which `lodestar_console.link` finds the newest console
ROLES = ("look", "stop", "command")
_KEY = re.compile(r"([A-Za-z0-9_-]{10,80})\.([A-Za-z0-9_-]{43})")
_SECRET_BYTES = 32


class LinkRefused(Exception):
    """The link cannot be used; the message says why and what to do."""


def console_folder(path: str = "") -> Path:
    """Return the console's private folder. path: another one than the user's. Raises UnsafeFolder, OSError."""
    return private_folder(Path(path).expanduser() if path else state_home() / "console")


def secret_of(folder: Path) -> bytes:
    """Return the secret in the folder, which is made where there is none, readable by its owner alone.

    Raises UnsafeFolder where others can read it or it is no secret of ours; OSError.
    """
    path = folder / "token"
    if not path.exists():
        with suppress(FileExistsError):  # another process was first
            write_file(path, [secrets.token_urlsafe(_SECRET_BYTES).encode()], replace=False)
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise UnsafeFolder(
            f"{path} must be a file that you alone can read: chmod 600 it, or remove it for a new one"
        )
    text = path.read_bytes().strip()
    if len(text) < _SECRET_BYTES:
        raise UnsafeFolder(f"{path} holds no token of the console: remove it, and a new one is made")
    return text


def digest(text: str) -> str:
    """Return what is stored of a token in its place."""
    return hashlib.sha256(text.encode()).hexdigest()


def new_key(secret: bytes, role: str, now: float) -> str:
    """Return the key of a one-time link for a role. now: s of the wall clock."""
    if role not in ROLES:
        raise ValueError(f"role is {role!r}; it is one of {', '.join(ROLES)}")
    body = f"{role}:{int((now + LINK_LASTS) * 1000)}:{secrets.token_urlsafe(9)}"
    return f"{_text(body.encode())}.{_text(_sign(secret, body))}"


def link_to(address: str, secret: bytes, role: str = "command") -> str:
    """Return a one-time link to a console at an address, for a role."""
    return f"{address}/enter?key={new_key(secret, role, time.time())}"


def last_address(folder: Path) -> str:
    """Return the address of the console that was started last, "" = none."""
    try:
        return (folder / ADDRESS).read_text().strip()
    except FileNotFoundError:
        return ""


class LinkDesk:
    """Redeems keys once. The used ones are noted in the folder before they count, also for a successor."""

    def __init__(self, folder: Path, secret: bytes) -> None:
        self._path, self._secret = folder / "used_links", secret
        self._lock = threading.Lock()

    def is_good(self, key: str, now: float) -> bool:
        """Return whether a key is one of ours and in time; it may be used up."""
        try:
            self._read(key, now)
        except LinkRefused:
            return False
        return True

    def redeem(self, key: str, now: float) -> str:
        """Return the role that a key gives, and use it up. Raises LinkRefused; OSError where it cannot be noted."""
        role, until, signature = self._read(key, now)
        name = digest(signature)  # a body has several spellings
        with self._lock, _only_one(self._path.with_suffix(".lock")):
            used = self._used()
            if name in used:
                raise LinkRefused(
                    "This link was used already. Make a new one: python -m lodestar_console.link"
                )
            used = {one: end for one, end in used.items() if end >= now} | {name: until}
            write_file(self._path, [f"{one} {end:.3f}\n".encode() for one, end in used.items()])
        return role

    def _read(self, key: str, now: float) -> tuple[str, float, str]:
        """Return role, s until which it is valid, and signature of a key. Raises LinkRefused."""
        found = _KEY.fullmatch(key)
        body = _bytes(found[1]).decode(errors="replace") if found else ""
        if found is None or not hmac.compare_digest(found[2], _text(_sign(self._secret, body))):
            raise LinkRefused(
                "This link is not one of this console. Make a new one: python -m lodestar_console.link"
            )
        role, until_ms, _ = body.split(":")
        until = int(until_ms) / 1000
        if not now <= until <= now + LINK_LASTS + MAX_AHEAD:
            raise LinkRefused(
                "This link is older than a minute. Make a new one: python -m lodestar_console.link"
            )
        return role, until, found[2]

    def _used(self) -> dict[str, float]:
        """Return the used keys of all consoles of the folder: digest -> s at which each ends."""
        used = {}
        with suppress(FileNotFoundError):
            for line in self._path.read_text(errors="replace").splitlines():
                name, _, until = line.partition(" ")
                with suppress(ValueError):  # cut off by a power failure
                    used[name] = float(until)
        return used


@contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Let one process at a time in, of all that name this file."""
    with open(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _sign(secret: bytes, body: str) -> bytes:
    return hmac.new(secret, b"link:" + body.encode(), hashlib.sha256).digest()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""
