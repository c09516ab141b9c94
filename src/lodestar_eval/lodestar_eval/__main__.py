"""`python -m lodestar_eval NAME [options] [--out FOLDER]`: run a benchmark, or `all`; without a NAME, list them."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from lodestar_eval.machine import describe_machine
from lodestar_eval.registry import BadOptions, Benchmark, all_benchmarks
from lodestar_eval.report import number, write_report

REPORTS = Path("out/bench")  # default parent folder of the reports, one subfolder per benchmark

ALL = "all"

EXIT_OK = 0
EXIT_BAR_MISSED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status.

    0: all pass thresholds are met; 1: some are not; 2: bad usage; 130: interrupted.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    benchmarks = all_benchmarks()
    if not arguments or arguments[0] in ("-h", "--help"):
        print("usage: python -m lodestar_eval NAME [options] [--out FOLDER]\n\n" + _listing(benchmarks))
        print("\n`python -m lodestar_eval NAME --help` shows the options of one.")
        return EXIT_OK
    name = arguments[0]
    if name == ALL:
        return _run_all(benchmarks, arguments[1:])
    if name not in benchmarks:
        print(f"lodestar_eval: there is no benchmark {name!r}\n\n" + _listing(benchmarks), file=sys.stderr)
        return EXIT_USAGE
    return _run(benchmarks[name], arguments[1:])


def _run(benchmark: Benchmark, arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        f"python -m lodestar_eval {benchmark.name}", description=benchmark.summary
    )
    benchmark.add_options(parser)
    default = REPORTS / benchmark.name
    where = f"where the report goes (default: {default})"
    parser.add_argument("--out", type=Path, default=default, metavar="FOLDER", help=where)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse has printed the error or its help
        return int(stop.code or 0)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM cleans up like Ctrl-C
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        result = benchmark.run(options, options.out, lambda line: print(line, flush=True))
    except (BadOptions, NotADirectoryError, FileExistsError, PermissionError) as error:
        print(f"{parser.prog}: error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt as stop:
        print(": ".join(["interrupted", *map(str, stop.args)]), file=sys.stderr)
        return EXIT_INTERRUPTED
    chosen = {key: value for key, value in vars(options).items() if key not in ("out", "anew")}
    machine = describe_machine()
    try:
        _, page = write_report(
            options.out, benchmark.name, benchmark.summary, arguments, chosen, machine, result
        )
    except OSError as error:
        print(f"{parser.prog}: error: the report cannot be written: {error}", file=sys.stderr)
        return EXIT_USAGE
    for bar in result.bars:
        print(f"  {'holds ' if bar.holds else 'MISSED'} {bar.name}: {number(bar.value)} ({bar.rule})")
    print(f"report: {page}")
    return EXIT_OK if all(bar.holds for bar in result.bars) else EXIT_BAR_MISSED


def _run_all(benchmarks: dict[str, Benchmark], arguments: list[str]) -> int:
    """Run each benchmark with its defaults, except those with a required argument, such as a log."""
    if arguments:
        print(f"lodestar_eval: {ALL} takes no options; each benchmark by its name does", file=sys.stderr)
        return EXIT_USAGE
    words = {EXIT_OK: "all bars hold", EXIT_BAR_MISSED: "a bar is missed", EXIT_USAGE: "left out: see above"}
    ended: dict[str, int] = {}
    for name, benchmark in benchmarks.items():
        print(f"\n== {name}: {benchmark.summary}", flush=True)
        ended[name] = _run(benchmark, [])
        if ended[name] == EXIT_INTERRUPTED:
            return EXIT_INTERRUPTED
    print()
    for name, status in ended.items():
        print(f"  {name:14} {words[status]}")
    return EXIT_BAR_MISSED if EXIT_BAR_MISSED in ended.values() else EXIT_OK


def _listing(benchmarks: dict[str, Benchmark]) -> str:
    width = max((len(name) for name in benchmarks), default=0)
    lines = [f"  {name:{width}}  {b.summary}" for name, b in benchmarks.items()]
    return "\n".join(
        ["benchmarks:", *lines, f"  {ALL:{width}}  every one of them with its defaults; takes hours"]
    )


if __name__ == "__main__":
    sys.exit(main())
