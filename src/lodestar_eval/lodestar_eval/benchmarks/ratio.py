"""Benchmark: costs of the robot as ratios to another checkout on this machine, or to the recorded ones.

Costs are processor time, Python calls, simulated time to the first decision, code lines, and set-up.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import runpy
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from lodestar_eval.options import positive_int, positive_seconds
from lodestar_eval.registry import BadOptions, Benchmark, Result, Table

ROOT = Path(__file__).resolve().parents[4]
PAGE = Path("docs/measurements/ratio.md")
CPU, CALLS = "processor s per simulated s", "Python calls per simulated s"
FIRST, LINES, SETUP = "simulated s to the first decision", "code lines", "processor s of set-up"
_COUNTED = (
    12.0  # simulated seconds of a search whose calls are counted: set-up has compiled all that it needs
)
_SEARCH = """
import cProfile, json, sys
sys.path.insert(0, "scripts")
import compile_kernels
compile_kernels.SECONDS = float(sys.argv[1])
profile = cProfile.Profile()
run = compile_kernels.main()
if sys.argv[2] == "count":  # again, as the first run may have compiled kernels
    run = profile.runcall(compile_kernels.main)
seconds = run.outcome.duration
first = run.decisions[0].stamp - (run.path[-1][0] - seconds)
calls = sum(entry.callcount for entry in profile.getstats())
print(json.dumps([run.outcome.cpu / seconds, calls / seconds, float(first)]))
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--against", default="HEAD^", metavar="COMMIT",
        help="the reference, a commit or the folder of a checkout whose kernels are compiled (default HEAD^)",
    )  # fmt: skip
    parser.add_argument("--rounds", type=positive_int, default=3, help="timed searches of each (default 3)")
    parser.add_argument(
        "--seconds",
        type=positive_seconds,
        default=60.0,
        metavar="S",
        help="simulated, of a timed search (default 60)",
    )
    parser.add_argument(
        "--setup", action="store_true", help="sets both commits up from nothing too (minutes)"
    )
    parser.add_argument(
        "--recorded", action="store_true",
        help=f"compares what does not depend on the machine with the newest table of {PAGE}",
    )  # fmt: skip


def _run(options: argparse.Namespace, folder: Path, progress: Callable[[str], None]) -> Result:
    now = _git(ROOT, "describe", "--always", "--dirty", "--exclude=*")
    costs = counted(ROOT)
    if options.recorded:
        reference = "recorded"
        theirs = {name: float(row[1].replace(",", "")) for name, row in recorded().items()}
    else:
        tree = Path(options.against).resolve()
        if not tree.is_dir():
            tree = worktree("reference", options.against)
        reference, theirs = _git(tree, "rev-parse", "--short", "HEAD"), counted(tree)
        theirs[CPU], costs[CPU] = _timed((tree, ROOT), options, progress)
        if options.setup:
            theirs[SETUP] = setup_seconds(worktree("setup-reference", reference))
            costs[SETUP] = setup_seconds(worktree("setup-now", "HEAD"))
    rows = tuple(
        (name, _text(theirs[name]), _text(costs[name]), f"{costs[name] / theirs[name]:.3f}")
        for name in (CPU, CALLS, FIRST, LINES, SETUP)
        if name in costs and name in theirs
    )
    for name in sorted(costs.keys() - theirs.keys()):
        progress(f"{name}: {_text(costs[name])} ({now}), not recorded")
    for name, before, after, ratio in rows:
        progress(f"{name}: {before} ({reference}), {after} ({now}), ratio {ratio}")
    metrics = {f"{name}, ratio": costs[name] / theirs[name] for name, *_ in rows}
    return Result(metrics, tables=(Table("Costs", ("cost", reference, now, "ratio"), rows),))


def _timed(
    trees: tuple[Path, Path], options: argparse.Namespace, progress: Callable[[str], None]
) -> tuple[float, float]:
    """Return the median processor seconds per simulated second of both checkouts.

    The checkouts search alternately, and take turns in going first. The first round does not count, because
    it may compile kernels.
    """
    found: tuple[list[float], list[float]] = ([], [])
    for turn in range(options.rounds + 1):
        for which in (0, 1) if turn % 2 else (1, 0):
            seconds = search(trees[which], options.seconds, "time")[CPU]
            progress(f"{trees[which]}: {seconds:.4f} {CPU}{'' if turn else ', not counted'}")
            if turn:
                found[which].append(seconds)
    return statistics.median(found[0]), statistics.median(found[1])


def recorded() -> dict[str, tuple[str, str, str]]:
    """Return the newest table of the page: name -> (cost of the reference, recorded cost, ratio), as text."""
    newest = (ROOT / PAGE).read_text(encoding="utf-8").split("\n## ")[1]
    rows = re.findall(r"^\| ([^|]+) \| ([\d.,]+) \| ([\d.,]+) \| ([\d.]+) \|$", newest, re.MULTILINE)
    return {name: (before, after, ratio) for name, before, after, ratio in rows}


def counted(tree: Path) -> dict[str, float]:
    """Return the costs of a checkout that are the same on every machine with the same Python and libraries."""
    found = search(tree, _COUNTED, "count")
    lines = runpy.run_path(str(tree / "tests/architecture/test_budget.py"))["counts"]()["code_lines"][
        "product"
    ]
    return {CALLS: found[CALLS], FIRST: found[FIRST], LINES: float(lines)}


def search(tree: Path, seconds: float, how: str) -> dict[str, float]:
    """Return the costs of the start of one headless search with the sources of a checkout.

    seconds: simulated. how: "time", or "count" for Python calls, which slows the search. Raises BadOptions if it
    fails, as with a commit that needs another environment.
    """
    packages = [p for p in sorted((tree / "src").glob("lodestar*")) if (p / p.name / "__init__.py").exists()]
    path = os.pathsep.join([*map(str, packages), os.environ.get("PYTHONPATH", "")])
    ended = subprocess.run(
        [sys.executable, "-c", _SEARCH, str(seconds), how], cwd=tree, capture_output=True, text=True,
        # No bytecode: Python compares time and size, which commits checked out in one second can share.
        env={**os.environ, "PYTHONPATH": path, "LODESTAR_ROOT": str(tree), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    if ended.returncode:
        raise BadOptions(f"no search with the sources in {tree}: {ended.stderr.strip()[-500:]}")
    return dict(zip((CPU, CALLS, FIRST), json.loads(ended.stdout.splitlines()[-1])))


def setup_seconds(tree: Path) -> float:
    """Return the processor seconds of `make setup` in a worktree after removing all untracked files."""
    _git(tree, "clean", "-dfxq")
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not p.startswith(str(ROOT)))
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in ("HOME", "LANG") or name.startswith(("PIP_", "SSL_")) or name.lower().endswith("_proxy")
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        ["make", "setup"], cwd=tree, check=True, stdout=subprocess.DEVNULL, env={**kept, "PATH": path}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def worktree(name: str, commit: str) -> Path:
    """Return the worktree `.cache/NAME` with the commit. It is kept, so that unchanged kernels stay compiled.

    Raises BadOptions if there is no such commit.
    """
    folder = ROOT / ".cache" / name
    if (folder / ".git").exists():
        _git(folder, "checkout", "-q", "--detach", _git(ROOT, "rev-parse", commit))
    else:
        _git(ROOT, "worktree", "add", "-q", "--force", "--detach", str(folder), commit)
    return folder


def _git(place: Path, *words: str) -> str:
    ended = subprocess.run(["git", "-C", str(place), *words], capture_output=True, text=True)
    if ended.returncode:
        raise BadOptions(f"git {words[0]}: {ended.stderr.strip()}")
    return ended.stdout.strip()


def _text(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


BENCHMARK = Benchmark(
    "ratio",
    "Costs of the robot against another commit on this machine, or the recorded ones.",
    _add_options,
    _run,
)
