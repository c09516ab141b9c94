"""`python -m lodestar_eval.demo`: send one directive to the stack in a simulated building, judge the run.

Exit status: 0 the robot faces the target, by ground truth; 1 it does not; 2 the options, the
world or the directive cannot be used; 3 the nodes did not come up, or one died; 130 interrupted.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from lodestar_bringup.options import PERCEPTION, StackOptions
from lodestar_eval.demo.progress import ProgressLine
from lodestar_eval.options import positive_seconds

if TYPE_CHECKING:
    from lodestar_eval.demo.page import DemoPage

EXIT_FOUND = 0
EXIT_NOT_FOUND = 1
EXIT_USAGE = 2
EXIT_STACK = 3
EXIT_INTERRUPTED = 130


def main(arguments: list[str] | None = None, began: float | None = None) -> int:
    """Run the demo; see the module for the exit status. began: `time.monotonic()` at the start of the program."""
    began = time.monotonic() if began is None else began
    options = _parse(arguments)
    if isinstance(options, int):
        return options
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM cleans up like Ctrl-C
    line = ProgressLine()
    options.page = _open_page(options.console, line)
    try:
        return _run(options, line, began)
    finally:
        if options.page is not None:
            options.page.close()


def _open_page(console: str, line: ProgressLine) -> DemoPage | None:
    """Return the page in the browser and print its link; None where it is not wanted, or stdout is no terminal."""
    if console == "off" or (console == "auto" and not sys.stdout.isatty()):
        return None
    from lodestar_eval.demo.page import demo_page

    page, problem = demo_page()
    line.note(f"{page.link} (open it within a minute)" if page is not None else problem)
    return page


def _run(options: argparse.Namespace, line: ProgressLine, began: float) -> int:
    """Make the building, run the session; return the exit status."""
    from lodestar_bringup.stack import stack
    from lodestar_bringup.starter import prepare as load_libraries

    load_libraries(
        stack("sim", StackOptions(console=options.page is not None))
    )  # the nodes', while this process makes the building
    from lodestar.language.directive import DirectiveError
    from lodestar_eval.tasks import prepare
    from lodestar_sim.worlds import WorldError
    from lodestar_sim.worlds.sources import with_kind

    line.note(f"Building the {options.world} of seed {options.seed} ...")
    try:
        prepared = prepare(with_kind(options.world, options.kind), options.seed, options.directive)
    except (WorldError, DirectiveError) as error:
        print(f"lodestar demo: error: {error}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    from lodestar_eval.demo.session import Interrupted, StackFailed, run_session
    from lodestar_eval.demo.unfinished import begin_report, write_unfinished

    directive = prepared.task.directive
    begin_report(options.out, directive)
    world = replace(prepared.world, start=prepared.task.start)
    world.save(options.out / "world.json")
    try:
        found = run_session(prepared, world, options, line, began)
        return EXIT_FOUND if found else EXIT_NOT_FOUND
    except StackFailed as error:
        write_unfinished(options.out, directive, f"The nodes failed:\n\n```\n{error}\n```")
        line.note(f"lodestar demo: error: {error}")
        return EXIT_STACK
    except (Interrupted, KeyboardInterrupt):
        page = write_unfinished(options.out, directive, "The run was interrupted; the robot was stopped.")
        line.note(f"Interrupted; everything is stopped. {page} says so.")
        return EXIT_INTERRUPTED


def _parse(arguments: list[str] | None) -> argparse.Namespace | int:
    parser = argparse.ArgumentParser(
        "python -m lodestar_eval.demo",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--directive", default=None, help='such as "find the red chair next to the desk"')
    parser.add_argument("--seed", type=int, default=1, help="of the building and of every noise (default 1)")
    parser.add_argument(
        "--world", default="apartment",
        help="apartment (default), office, warehouse, a world file, or the folder of a real occupancy map",
    )  # fmt: skip
    parser.add_argument(
        "--kind",
        choices=("apartment", "office", "warehouse"),
        help="as what a map is furnished (default office)",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out/demo"), metavar="FOLDER", help="default out/demo"
    )
    parser.add_argument(
        "--perception",
        choices=PERCEPTION,
        default=PERCEPTION[0],
        help="profile (default): the simulator's labels; on its colour images, nanodet: NanoDet (make detector); "
        "network: the packaged network",
    )
    parser.add_argument(
        "--console",
        choices=("auto", "on", "off"),
        default="auto",
        help="a page in the browser, which stays until Ctrl-C; auto (default): where stdout is a terminal",
    )
    parser.add_argument(
        "--time-limit",
        type=positive_seconds,
        default=900.0,
        metavar="S",
        help="simulated seconds (default 900)",
    )
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse has printed the error or its help
        return int(stop.code or 0)
    if options.directive is not None and not options.directive.strip():
        print(
            'lodestar demo: error: the directive is empty; write for example "find the red chair"',
            file=sys.stderr,
        )
        return EXIT_USAGE
    if options.out.exists() and not options.out.is_dir():
        print(f"lodestar demo: error: {options.out} is not a folder", file=sys.stderr)
        return EXIT_USAGE
    return options


if __name__ == "__main__":
    sys.exit(main(began=time.monotonic() - (time.time() - psutil.Process().create_time())))
