"""A checkout and its folders, what set-up says, and the commands that it runs."""

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
    """Something the user has to put right; the message says what and how."""


class CommandFailed(SetupError):
    """A command failed, and nothing tells why but the end of what it wrote."""


@dataclass(frozen=True)
class Checkout:
    """The folders of a checkout. A stamp is the key of what a step did last; with the same key it is not done again."""

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
        """Requirements of this computer alone; its packages replace those of the same names."""
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
        """Run a command quietly. Raises SetupError with the one sentence that `diagnose` finds for what it wrote,
        CommandFailed with the end of that and `advice` where it finds none.
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
    """Tell that a step begins, and the time that it took."""
    say(name)
    began = time.monotonic()
    yield
    say(f"  {time.monotonic() - began:.1f} s")


def digest(parts: list[str]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
