"""`python -m lodestar_eval.demo`: send one directive to the stack in a simulated building, judge the run.

Exit status: 0 the robot faces the target, by ground truth; 1 it does not; 2 the options, the
world or the directive cannot be used; 3 the nodes did not come up, or one died; 130 interrupted.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from traceback import print_exc
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
    for number in (signal.SIGTERM, signal.SIGHUP):  # a closed terminal cleans up like Ctrl-C, without nohup
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    line = ProgressLine()
    options.page, options.begun = None, ""
    try:
        options.page = _open_page(options.console, line)
        return _run(options, line, began)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second press would tear the report
        return _unfinished(
            options, line, "Interrupted before the search began; everything is stopped.", EXIT_INTERRUPTED
        )
    finally:
        if options.page is not None:
            options.page.close()


def _unfinished(options: argparse.Namespace, line: ProgressLine, reason: str, status: int) -> int:
    """Say why there was no search, on the screen and in the report if it was begun; return the exit status."""
    text = f"{reason.splitlines()[0].rstrip('.')}."
    if options.begun:
        from lodestar_eval.demo.unfinished import write_unfinished

        with suppress(OSError):
            text += f" Report: {write_unfinished(options.out, options.begun, reason)}"
    line.note(text)
    return status


def _open_page(console: str, line: ProgressLine) -> DemoPage | None:
    """Serve the demo's page and print its link; return None if it is not wanted or stdout is no terminal."""
    if console == "off" or (console == "auto" and not sys.stdout.isatty()):
        return None
    from lodestar_eval.demo.page import demo_page

    page, problem = demo_page()
    line.note(f"{page.link} (open it within a minute)" if page is not None else problem)
    return page


def _run(options: argparse.Namespace, line: ProgressLine, began: float) -> int:
    """Make the building and run the session; return the exit status."""
    from lodestar_bringup.stack import stack
    from lodestar_bringup.starter import prepare as load_libraries

    # libraries of the nodes, loaded while this process makes the building
    load_libraries(stack("sim", StackOptions(console=options.page is not None)))
    from lodestar.assembly.profiles import read_profiles
    from lodestar.language.directive import DirectiveError
    from lodestar.perception.eyes import eyes_of
    from lodestar_bringup.places import config_folder
    from lodestar_eval.tasks import prepare
    from lodestar_sim.worlds import WorldError
    from lodestar_sim.worlds.sources import with_kind

    file = config_folder() / f"{options.perception}.yaml"
    line.note(f"Building the {options.world} of seed {options.seed} ...")
    try:
        eyes = eyes_of(read_profiles([file]).shared.looks.eyes) if file.exists() else None
        prepared = prepare(with_kind(options.world, options.kind), options.seed, options.directive, eyes)
    except (WorldError, DirectiveError) as error:
        return _refused(str(error))
    from lodestar_eval.demo.unfinished import begin_report, quiet

    world = replace(prepared.world, start=prepared.task.start)
    try:
        begin_report(options.out, prepared.task.directive)
        world.save(options.out / "world.json")
        log = (options.out / "log" / "demo.log").open("a", buffering=1)
    except OSError as error:
        return _refused(f"nothing can be written to {options.out}: {error.strerror}")
    options.begun = prepared.task.directive
    with quiet(log):
        from lodestar_bringup.places import StackError
        from lodestar_eval.demo.session import INTERRUPTED, run_session

        try:
            record = run_session(prepared, world, options, line, began)
        except (StackError, OSError) as error:
            return _unfinished(options, line, f"The nodes failed: {error}", EXIT_STACK)
        except Exception:
            print_exc()
            return _unfinished(options, line, f"The demo failed; {log.name} says how.", EXIT_STACK)
    if record.ending:
        return EXIT_INTERRUPTED if record.ending == INTERRUPTED else EXIT_STACK
    return EXIT_FOUND if record.success else EXIT_NOT_FOUND


def _refused(reason: str) -> int:
    print(f"lodestar demo: error: {reason}", file=sys.stderr)
    return EXIT_USAGE


def _parse(arguments: list[str] | None) -> argparse.Namespace | int:
    parser = argparse.ArgumentParser(
        "python -m lodestar_eval.demo",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--directive", default=None, help='such as "find the red chair next to the desk"')
    add("--seed", type=int, default=1, help="of the building and of every noise (default 1)")
    add(
        "--world", default="apartment",
        help="apartment (default), office, warehouse, a world file, or the folder of a real occupancy map",
    )  # fmt: skip
    kinds = ("apartment", "office", "warehouse")
    add("--kind", choices=kinds, help="as what a map is furnished (default office)")
    add("--out", type=Path, default=Path("out/demo"), metavar="FOLDER", help="default out/demo")
    add(
        "--perception", choices=PERCEPTION, default="measured",
        help="measured (default): the simulator's labels with the errors that the networks of `make detector` were "
        "measured to make; profile: without errors; on its colour images, nanodet: those networks; network: the "
        "packaged network",
    )  # fmt: skip
    add(
        "--console", choices=("auto", "on", "off"), default="auto",
        help="a page in the browser, which stays until Ctrl-C; auto (default): where stdout is a terminal",
    )  # fmt: skip
    add(
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
        return _refused('the directive is empty; write for example "find the red chair"')
    if options.out.exists() and not options.out.is_dir():
        return _refused(f"{options.out} is not a folder")
    return options


if __name__ == "__main__":
    sys.exit(main(began=time.monotonic() - (time.time() - psutil.Process().create_time())))
