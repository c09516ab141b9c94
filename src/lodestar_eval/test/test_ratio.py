"""Tests of the ratios to another checkout, in small repositories whose searches are scripted."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

import pytest

from lodestar_eval.benchmarks import ratio
from lodestar_eval.registry import BadOptions

KERNELS = """
import os
from pathlib import Path
from types import SimpleNamespace

from lodestar_scripted import CALLS, CPU, FIRST

SECONDS = 1.0


def step():
    pass


def main():
    turn = Path("turns")  # the first search compiles, and takes ten times as long
    first = not turn.exists()
    turn.write_text("")
    for _ in range(int(CALLS * SECONDS)):
        step()
    outcome = SimpleNamespace(cpu=CPU * SECONDS * (10 if first else 1), duration=SECONDS)
    assert os.environ["LODESTAR_ROOT"] == os.getcwd()
    return SimpleNamespace(outcome=outcome, decisions=[SimpleNamespace(stamp=3.0 + FIRST)], path=[[3.0 + SECONDS]])
"""
BUDGET = "def counts():\n    return {'code_lines': {'product': %d}}\n"
MAKEFILE = (
    "setup:\n\ttest ! -e left_over\n\ttest -z \"$$LODESTAR_ROOT\"\n\tpython3 -c 'sum(range(3_000_000))'\n"
)
PAGE = """# Measurements: ratio

## 2026-01-02: newer

| cost | aaa | bbb | ratio |
|---|---|---|---|
| processor s per simulated s | 0.2 | 0.1 | 0.500 |
| simulated s to the first decision | 4 | 5 | 1.250 |
| code lines | 900 | 1,000 | 1.111 |

## 2026-01-01: older

| code lines | 1 | 2 | 2.000 |
"""


def git(place: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(place), *identity, *words], check=True, capture_output=True)


def write(root: Path, cpu: float, calls: int, first: float, lines: int) -> None:
    for name, text in {
        "scripts/compile_kernels.py": KERNELS,
        "src/lodestar_scripted/lodestar_scripted/__init__.py": f"CPU, CALLS, FIRST = {cpu}, {calls}, {first}\n",
        "tests/architecture/test_budget.py": BUDGET % lines,
        "docs/measurements/ratio.md": PAGE,
        "Makefile": MAKEFILE,
        ".gitignore": "/.cache/\n/turns\n__pycache__/\n/left_over\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "a commit")


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """Return a repository of two commits: 0.2 then 0.1 s of the processor, first decision after 4 and 5 s."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q")
    write(folder, cpu=0.2, calls=1000, first=4.0, lines=900)
    write(folder, cpu=0.1, calls=3000, first=5.0, lines=990)
    monkeypatch.setattr(ratio, "ROOT", folder)
    return folder


def run(*arguments: str) -> tuple[dict[str, float], list[str]]:
    parser = argparse.ArgumentParser()
    ratio._add_options(parser)
    said: list[str] = []
    result = ratio._run(parser.parse_args(arguments), Path(), said.append)
    return dict(result.metrics), said


def test_the_commit_before_is_measured_in_a_worktree_of_its_own(root):
    metrics, said = run("--rounds", "2", "--seconds", "7")
    assert metrics["processor s per simulated s, ratio"] == pytest.approx(0.5)
    assert 2.5 < metrics["Python calls per simulated s, ratio"] < 3.0  # calls of the search, and few others
    assert metrics["simulated s to the first decision, ratio"] == pytest.approx(1.25)
    assert metrics["code lines, ratio"] == pytest.approx(1.1)
    assert sum("not counted" in line for line in said) == 2
    (root / "tests/architecture/test_budget.py").write_text(BUDGET % 1800)
    metrics, said = run("--rounds", "1", "--against", "HEAD")  # the same worktree goes on to another commit
    assert metrics["processor s per simulated s, ratio"] == pytest.approx(1.0)
    assert metrics["code lines, ratio"] == pytest.approx(1800 / 990)
    assert "-dirty" in said[-1]
    assert [place.name for place in (root / ".cache").iterdir()] == ["reference"]


def test_a_checkout_that_is_there_is_the_reference(root, tmp_path):
    other = tmp_path / "other"
    git(root, "worktree", "add", "-q", "--detach", str(other), "HEAD^")
    metrics, _ = run("--rounds", "1", "--against", str(other))
    assert metrics["code lines, ratio"] == pytest.approx(1.1) and not (root / ".cache").exists()


def test_the_recorded_costs_are_those_of_the_newest_table(root):
    metrics, said = run("--recorded")
    assert metrics == {
        "simulated s to the first decision, ratio": pytest.approx(1.0),
        "code lines, ratio": pytest.approx(0.99),
    }
    assert said[-1].startswith("code lines: 1,000 (recorded), 990 (")
    assert [line.endswith("not recorded") for line in said] == [True, False, False]  # calls; not the time


def test_set_up_begins_from_nothing_and_costs_what_its_processes_take(root, monkeypatch):
    tree = ratio.worktree("setup-now", "HEAD")
    (tree / "left_over").write_text("")
    monkeypatch.setenv("LODESTAR_ROOT", str(root))
    assert 0.02 < ratio.setup_seconds(tree) < 60.0


def test_what_cannot_be_measured_is_told(root):
    with pytest.raises(BadOptions, match="no-such-commit"):
        run("--against", "no-such-commit")
    (root / "scripts/compile_kernels.py").write_text("raise ImportError('needs another library')")
    with pytest.raises(BadOptions, match="needs another library"):
        run("--recorded")
