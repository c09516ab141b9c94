"""`python tests/demo_acceptance.py apartment:9101-9110 office:9201-9210`: run the demo on a terminal for each seed.

Prints a row per run, and what is wrong with it: more than 30 lines on the screen, stamps that run backwards, a line
told twice, a warning or traceback, a report without map, film or next step. Exit status: 0 = nothing is wrong.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

MOST_LINES = 30
COLUMNS = 100
REPORTED = ("](map.png)", "](run.gif)", "## What was looked at", "## Next")


def main() -> int:
    """Run the seeds; see the module."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", help="WORLD:FIRST-LAST")
    parser.add_argument("--out", type=Path, help="folder of the reports; default: one in /tmp")
    parser.add_argument("--make", action="store_true", help="run `make demo` in place of the program alone")
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a demo that inherits "ignored" never ends
    out = given.out or Path(tempfile.mkdtemp(prefix="demo_"))
    say(f"Reports: {out}\n\n| world | seed | end | lines | simulated s | wrong |\n|---|---|---|---|---|---|")
    bad = found = count = 0
    for run in given.runs:
        world, _, seeds = run.partition(":")
        first, _, last = seeds.partition("-")
        for seed in range(int(first), int(last or first) + 1):
            status, lines = screen_of(world, seed, out / f"{world}_{seed}", given.make)
            text = "\n".join(lines)
            wrong = problems(lines, out / f"{world}_{seed}")
            took = re.search(r"It took (\d+) s", text)
            end = {0: "found", 1: "not found"}.get(status, f"status {status}")
            count, found, bad = count + 1, found + (status == 0), bad + bool(wrong)
            row = (world, seed, end, len(lines), took[1] if took else "–", "; ".join(wrong) or "–")
            say(f"| {' | '.join(map(str, row))} |")
    say(f"\nFound {found} of {count}; something is wrong with {bad}.")
    return 1 if bad else 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def screen_of(world: str, seed: int, out: Path, by_make: bool) -> tuple[int, list[str]]:
    """Run a demo on a terminal, press Ctrl-C once its page stays; return its status and the lines on the screen."""
    command = [
        sys.executable,
        "-m",
        "lodestar_eval.demo",
        "--world",
        world,
        "--seed",
        str(seed),
        "--out",
        str(out),
    ]
    if by_make:
        command = ["make", "demo", f"WORLD={world}", f"SEED={seed}", f"OUT={out}"]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "LINES": "40"}
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment, start_new_session=True)
    os.close(theirs)
    said, pressed = b"", False
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the last writer has closed the terminal
            break
        if not part:
            break
        said += part
        if not pressed and b"Ctrl-C ends it" in said:
            pressed = True
            os.killpg(process.pid, signal.SIGINT)
    os.close(ours)
    status = process.wait()
    rows = said.decode(errors="replace").replace("\r\n", "\n").split("\n")
    return status, [row for row in (re.split(r"\r(?:\x1b\[2K)?", one)[-1] for one in rows) if row.strip()]


def problems(lines: list[str], out: Path) -> list[str]:
    """Return what is wrong with a run by its screen and its report."""
    wrong = [f"{len(lines)} lines"] if len(lines) > MOST_LINES else []
    stamps = [float(found[1]) for found in (re.match(r" *([\d.]+) s  \S", line) for line in lines) if found]
    wrong += ["stamps run backwards"] if stamps != sorted(stamps) else []
    words = [re.sub(r"[\d.]+", "", line).strip() for line in lines]
    wrong += ["a line is told twice"] if len(set(words)) < len(words) else []
    wrong += [
        f"it says {word}" for word in ("WARN", "ERROR", "Traceback") if any(word in line for line in lines)
    ]
    report = out / "report.md"
    text = report.read_text() if report.exists() else ""
    wrong += [f"no {part!r} in the report" for part in REPORTED if part not in text]
    return wrong + [f"no {name}" for name in ("map.png", "run.gif") if not (out / name).exists()]


if __name__ == "__main__":
    sys.exit(main())
