"""Daily budget for model requests, counted over all processes of this user."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

from lodestar.models.config import DayConfig
from lodestar.storage.private import UnsafeFolder, private_folder, state_home

_log = logging.getLogger(__name__)

_FILE = "model-requests.db"
_WAIT = 2.0  # s, longest wait for a file lock of another process
_SCHEMA = "CREATE TABLE IF NOT EXISTS days (day TEXT PRIMARY KEY, requests INTEGER, tokens INTEGER)"
_ADD = (
    "INSERT INTO days VALUES (?, 1, ?) ON CONFLICT(day) DO UPDATE SET "
    "requests = requests + 1, tokens = tokens + excluded.tokens"
)
_SETTLE = "UPDATE days SET tokens = max(tokens + ?, 0) WHERE day = ?"


def stricter(config: DayConfig, requests: int) -> DayConfig:
    """Return the limits with at most this many requests; 0 = no additional limit."""
    limits = [limit for limit in (config.requests, requests) if limit]
    return DayConfig(min(limits, default=0), config.tokens)


class DayBudget:
    """Counter of a day's requests and tokens (UTC), shared by all processes of this user.

    It is a file in the user's state folder. Safe for several threads and processes. If the file cannot be
    used there is no limit: `problem` says why, and it is logged once as a warning. today(): the current day;
    a request is reserved and settled on the day on which it began.
    """

    def __init__(
        self,
        config: DayConfig,
        folder: Path | None = None,
        today: Callable[[], str] = lambda: datetime.now(timezone.utc).date().isoformat(),
    ) -> None:
        self._config, self.today = config, today
        self._folder = folder if folder is not None else state_home()
        self._lock = threading.Lock()
        self.problem = ""

    def reserve(self, tokens: int, day: str) -> str:
        """Count a request that may take this many tokens on a day.

        Returns "" if it is allowed, else a sentence with the reason.
        """
        config = self._config
        if not (config.requests or config.tokens):
            return ""
        with self._lock:
            try:
                with closing(self._open()) as db, db:
                    db.execute("BEGIN IMMEDIATE")
                    spent = db.execute("SELECT requests, tokens FROM days WHERE day = ?", (day,)).fetchone()
                    asked, used = spent or (0, 0)
                    if config.requests and asked >= config.requests:
                        return self._over(f"{config.requests} requests")
                    if config.tokens and used + tokens > config.tokens:
                        return self._over(f"{config.tokens} tokens")
                    db.execute(_ADD, (day, tokens))
                self.problem = ""
            except (OSError, sqlite3.Error, UnsafeFolder) as error:
                self._tell(f"models' requests of the day are not counted: {error}")
        return ""

    def settle(self, reserved: int, used: int, day: str) -> None:
        """Replace the tokens that a request reserved on a day by the tokens it used."""
        if (self._config.requests or self._config.tokens) and used != reserved:
            with self._lock:
                try:
                    with closing(self._open()) as db, db:
                        db.execute(_SETTLE, (used - reserved, day))
                except (OSError, sqlite3.Error, UnsafeFolder) as error:
                    self._tell(f"models' requests of the day are not counted: {error}")

    def _tell(self, problem: str) -> None:
        if problem != self.problem:
            _log.warning(problem)
        self.problem = problem

    def _over(self, what: str) -> str:
        return (
            f"today's {what} are used up; it is asked again after midnight UTC, or with a larger endpoint.day"
        )

    def _open(self) -> sqlite3.Connection:
        file = private_folder(self._folder) / _FILE
        db = sqlite3.connect(file, timeout=_WAIT, isolation_level=None)
        file.chmod(0o600)
        db.execute(_SCHEMA)
        return db
