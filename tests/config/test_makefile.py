"""Tests of the arguments that make targets pass on, by default and with options."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEFAULTS = {"SEED": "1", "WORLD": "apartment", "OUT": "out/demo", "DIRECTIVE": ""}


def demo_arguments(tmp_path: Path, *words: str, **variables: str) -> list[str]:
    """Return the arguments that `make demo` passes to the demo, in a copy with fake set-up and Python."""
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    (tmp_path / "env.sh").write_text(f'PATH="{tmp_path}/bin:$PATH"\n')
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text('#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "$word"; done\n')
    python.chmod(0o755)
    bare = {name: value for name, value in os.environ.items() if name not in DEFAULTS and "MAKE" not in name}
    done = subprocess.run(
        ["make", "-s", "demo", "PYTHON=true", *words], cwd=tmp_path, env={**bare, **variables},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


COMMAND = ["-m", "lodestar_eval.demo", "--world", "apartment", "--seed", "1", "--out", "out/demo"]


def test_nothing_said(tmp_path: Path) -> None:
    assert demo_arguments(tmp_path) == COMMAND


def test_an_empty_variable_is_nothing_said(tmp_path: Path) -> None:
    assert demo_arguments(tmp_path, OUT="", SEED="", WORLD="") == COMMAND


@pytest.mark.parametrize("way", ["word", "variable"])
def test_whatever_is_said_arrives_as_it_is(tmp_path: Path, way: str) -> None:
    said = {"SEED": "7", "WORLD": "office", "OUT": "my out", "DIRECTIVE": 'find the "red" chair; $(x) & `y`'}
    if way == "word":
        words = [f"{name}={value.replace('$', '$$')}" for name, value in said.items()]
        arguments = demo_arguments(tmp_path, *words)
    else:
        arguments = demo_arguments(tmp_path, **said)
    assert arguments[2:] == [
        "--world", "office", "--seed", "7", "--out", "my out", "--directive", said["DIRECTIVE"],
    ]  # fmt: skip
