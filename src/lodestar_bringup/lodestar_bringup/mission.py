"""`python -m lodestar_bringup.mission FILE.yaml`: run a mission, or continue it after it was stopped or killed.

Ctrl-C cancels the current step, and the robot stands. The same command continues with that step.
Exit status: 0 every step was done; 1 a step failed, or a person halted the robot; 2 the file or its journal cannot be
used; 3 no goal selector answered, or it is gone; 130 interrupted.
"""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from lodestar.missions.journal import REPORTS, JournalBusy, MissionJournal, RoundState
from lodestar.missions.mission_file import BadMission, load_mission
from lodestar.missions.records import Mission
from lodestar.missions.report import plain_text, plan_lines, report_lines, write_report
from lodestar.missions.runner import Ending, MissionRunner, Waiting
from lodestar.missions.times import clock_words, next_due
from lodestar.storage.private import UnsafeFolder, state_home

EXIT_FAILED, EXIT_USAGE, EXIT_GONE, EXIT_INTERRUPTED = 1, 2, 3, 130
_SHOWN = 3  # number of scheduled times shown by --dry-run


def main(arguments: list[str] | None = None) -> int:
    """Run the mission; return the exit status (see the module)."""
    from lodestar_ros.terminal import parse

    options, given = parse(_parser(), arguments)
    try:
        mission = load_mission(options.file)
    except BadMission as error:
        print(f"{options.file} is no mission that can begin; nothing was moved:", file=sys.stderr)
        print("\n".join(f"  {plain_text(problem)}" for problem in error.problems), file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as error:
        print(f"the mission cannot be read: {error}", file=sys.stderr)
        return EXIT_USAGE
    if options.check:
        print(f"{options.file} is in order: mission {mission.name}, {len(mission.steps)} steps.")
        return 0
    folder = options.folder or state_home() / "missions" / _folder_name(mission, options.namespace)
    if options.dry_run:
        print("\n".join([*plan_lines(mission, _times(mission)), _standing(folder)]))
        return 0
    try:
        journal = MissionJournal(folder.expanduser().absolute())
    except (JournalBusy, UnsafeFolder, OSError) as error:
        print(f"the mission cannot begin: {error}", file=sys.stderr)
        return EXIT_USAGE
    try:
        return _run(mission, journal, options, given)
    except OSError as error:
        print(f"the journal cannot be written, so that the mission ends: {error}", file=sys.stderr)
        return EXIT_FAILED
    finally:
        journal.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lodestar_bringup.mission",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE.yaml", help="the mission")
    parser.add_argument(
        "--check", action="store_true", help="name everything that is wrong with the file, and end"
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would happen, and end")
    parser.add_argument(
        "--restart", action="store_true", help="begin with the first step, whatever the journal says"
    )
    parser.add_argument(
        "--folder", type=Path, help="of the journal and the reports (default: by the mission's name)"
    )
    return parser


def _folder_name(mission: Mission, namespace: str) -> str:
    """Return the name of the journal's folder, different for each robot that runs the mission."""
    return "-".join([mission.name, *namespace.strip("/").split("/")]).rstrip("-")


def _times(mission: Mission) -> list[str]:
    """Return the next times of the schedule as text."""
    due, found = time.time(), list[str]()
    while mission.schedule is not None and len(found) < _SHOWN:
        due = next_due(mission.schedule, due, due)
        found.append(clock_words(due))
    return found


def _standing(folder: Path) -> str:
    """Return in words the round and step with which the mission would continue."""
    if not folder.exists():
        return "It would begin with step 1."
    try:
        journal = MissionJournal(folder)
    except JournalBusy:
        return "It runs already."
    except (UnsafeFolder, OSError) as error:
        return f"Its journal cannot be read: {error}"
    journal.close()
    if journal.round is None:
        return "It would begin with step 1." if journal.run_over else "It would wait for its next round."
    return f"It would go on with round {journal.round.number}, step {journal.round.next_step + 1}."


def _run(mission: Mission, journal: MissionJournal, options: argparse.Namespace, given: list[str]) -> int:
    """Run the mission on a running stack; return the exit status."""
    from lodestar_ros.mission_client import StackPerformer
    from lodestar_ros.terminal import terminal_node

    for problem in journal.problems:
        print(f"journal: {problem}", file=sys.stderr)
    stop = threading.Event()
    changed = journal.changed_step(mission.steps)
    if changed >= 0 and not options.restart:
        print(
            f"step {changed + 1} of {options.file} is not what the journal has begun. Put the file back as it was, or "
            "begin anew with --restart",
            file=sys.stderr,
        )
        return EXIT_USAGE

    def on_round(state: RoundState) -> None:
        print("\n".join(report_lines(mission, state)), flush=True)
        print(f"Report: {write_report(journal.folder / REPORTS, mission, journal.run, state)}", flush=True)

    with terminal_node("mission", options.namespace, given) as node:
        # After those of `terminal_node`, which would end the program at once, and leave the step to others.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: stop.set())
        performer = StackPerformer(node, stop, _tell)
        runner = MissionRunner(mission, journal, performer, Waiting(performer.pause), _tell, on_round)
        if options.restart and not journal.run_over:
            runner.give_up()
        ending = runner.run()
    return _concluded(ending, journal, options)


def _tell(line: str) -> None:
    print(plain_text(line), flush=True)


def _concluded(ending: Ending, journal: MissionJournal, options: argparse.Namespace) -> int:
    """Print how the mission ended and how to continue; return the exit status."""
    if ending is Ending.COMPLETE:
        print(
            "The mission is complete."
            if not journal.failed
            else "The mission is complete; some steps failed."
        )
        return EXIT_FAILED if journal.failed else 0
    told: dict[str, Any] = {"folder": options.folder, "namespace": options.namespace}
    extra = [word for key, value in told.items() if value for word in (f"--{key}", str(value))]
    command = shlex.join(["python", "-m", "lodestar_bringup.mission", str(options.file), *extra])
    print(f"The mission stopped: {ending.value}. The robot stands.", file=sys.stderr)
    if ending in (Ending.HALTED, Ending.GONE):
        print("When the robot may move again: python -m lodestar_ros.hold off", file=sys.stderr)
    print(f"To go on with this step: {command}", file=sys.stderr)
    print(f"To begin anew: {command} --restart", file=sys.stderr)
    return {Ending.GONE: EXIT_GONE, Ending.INTERRUPTED: EXIT_INTERRUPTED}.get(ending, EXIT_FAILED)


if __name__ == "__main__":
    sys.exit(main())
