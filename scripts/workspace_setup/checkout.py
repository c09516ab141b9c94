"""Folders of a checkout, messages of the set-up, and running of its commands."""

from __future__ import annotations

import hashlib
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


class SetupError(Exception):
    """Raised for a problem that the user must fix; the message says what and how."""


class CommandFailed(SetupError):
    """Raised if a command failed for an unknown reason; the message has the end of its output."""


@dataclass(frozen=True)
class Checkout:
    """Folders and stamps of a checkout. A stamp is a file with the hash of the inputs of a set-up step; the
    step is skipped while the hash is unchanged.
    """

    root: Path

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def requirements(self) -> Path:
        return self.root / "requirements"

    @property
    def local(self) -> Path:
        """Return the requirements file of this computer only; its packages replace others of the same
        names.
        """
        return self.requirements / "local.txt"

    def read_stamp(self, name: str) -> str:
        path = self.venv / "stamps" / name
        return path.read_text() if path.is_file() else ""

    def write_stamp(self, name: str, key: str) -> None:
        path = self.venv / "stamps" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(key)

    def run(
        self,
        command: list[str],
        name: str,
        advice: str,
        environment: dict[str, str] | None = None,
        diagnose: Callable[[str], str] = lambda text: "",
    ) -> None:
        """Run a command without showing its output. If it fails, raises SetupError with the sentence that
        `diagnose` returns for the output, or, if that is empty, CommandFailed with the end of the output and
        `advice`.
        """
        done = subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode == 0:
            return
        sentence = diagnose(done.stdout)
        if sentence:
            raise SetupError(sentence)
        tail = "\n".join(done.stdout.splitlines()[-40:])
        raise CommandFailed(f"{name} failed ({done.returncode}):\n{tail}\n[setup] what to do: {advice}")


def say(message: str) -> None:
    print(f"[setup] {message}", flush=True)


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print the name of a step when the `with` block begins, and its duration at the end."""
    say(name)
    began = time.monotonic()
    yield
    say(f"  {time.monotonic() - began:.1f} s")


def digest(parts: list[str]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
