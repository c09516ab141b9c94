"""Tests that the pre-commit hooks run the commands of `make lint` and need no network."""

from __future__ import annotations

import re

import declared
import yaml


def test_hooks_run_what_make_lint_runs() -> None:
    repos = yaml.safe_load((declared.ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repo["repo"] for repo in repos] == ["local"]
    hooks = [hook for repo in repos for hook in repo["hooks"]]
    assert all(hook["language"] == "system" for hook in hooks)
    entries = {hook["entry"].replace(" --force-exclude", "") for hook in hooks}

    lint = re.search(r"^lint:.*\n((?:\t.*\n)+)", (declared.ROOT / "Makefile").read_text(), re.MULTILINE)
    assert lint is not None
    commands = {command.strip().removesuffix(" .") for command in lint.group(1).split("&&")[1:]}
    assert entries == commands
