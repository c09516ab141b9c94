"""The console's secret, and one-time links derived from it; any process of the same user can create links."""

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

LINK_LASTS = 60.0  # s, validity of a one-time link
MAX_AHEAD = 5.0  # s, tolerated clock difference to the creator of a link
ADDRESS = "address"  # file with the address of the newest console, for `lodestar_console.link`
ROLES = ("look", "stop", "command")
_KEY = re.compile(r"([A-Za-z0-9_-]{10,80})\.([A-Za-z0-9_-]{43})")
_SECRET_BYTES = 32


class LinkRefused(Exception):
    """A one-time link cannot be used; the message gives the reason and the remedy."""


def console_folder(path: str = "") -> Path:
    """Return the console's private folder. path: folder to use; "" = the user's. Raises UnsafeFolder, OSError."""
    return private_folder(Path(path).expanduser() if path else state_home() / "console")


def secret_of(folder: Path) -> bytes:
    """Return the secret in the folder; create it, readable by its owner only, if there is none.

    Raises UnsafeFolder if others can read it or it is not a secret of the console; OSError.
    """
    path = folder / "token"
    if not path.exists():
        with suppress(FileExistsError):  # another process created it first
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
    """Return the SHA-256 digest, hex, that is stored instead of a token."""
    return hashlib.sha256(text.encode()).hexdigest()


def new_key(secret: bytes, role: str, now: float) -> str:
    """Return a new key for a one-time link with a role. now: s of the wall clock."""
    if role not in ROLES:
        raise ValueError(f"role is {role!r}; it is one of {', '.join(ROLES)}")
    body = f"{role}:{int((now + LINK_LASTS) * 1000)}:{secrets.token_urlsafe(9)}"
    return f"{_text(body.encode())}.{_text(_sign(secret, body))}"


def link_to(address: str, secret: bytes, role: str = "command") -> str:
    """Return a one-time link to a console at an address, for a role."""
    return f"{address}/enter?key={new_key(secret, role, time.time())}"


def last_address(folder: Path) -> str:
    """Return the address of the most recently started console, "" = none."""
    try:
        return (folder / ADDRESS).read_text().strip()
    except FileNotFoundError:
        return ""


class LinkDesk:
    """Redeem each key of a one-time link once. Used keys are saved before they take effect, to survive restarts."""

    def __init__(self, folder: Path, secret: bytes) -> None:
        self._path, self._secret = folder / "used_links", secret
        self._lock = threading.Lock()

    def is_good(self, key: str, now: float) -> bool:
        """Return whether a key is genuine and not expired; it may have been used already."""
        try:
            self._read(key, now)
        except LinkRefused:
            return False
        return True

    def redeem(self, key: str, now: float) -> str:
        """Return the role of a key, and mark the key as used. Raises LinkRefused; OSError if it cannot be written."""
        role, until, signature = self._read(key, now)
        name = digest(signature)  # by signature: base64 allows several spellings of one body
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
        """Return role, expiry (s of the wall clock) and signature of a key. Raises LinkRefused."""
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
        """Return the used keys of all consoles of the folder: digest -> expiry, s of the wall clock."""
        used = {}
        with suppress(FileNotFoundError):
            for line in self._path.read_text(errors="replace").splitlines():
                name, _, until = line.partition(" ")
                with suppress(ValueError):  # line truncated by a power failure
                    used[name] = float(until)
        return used


@contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Hold an exclusive lock between processes, on a lock file."""
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
