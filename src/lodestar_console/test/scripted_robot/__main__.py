"""`python -m scripted_robot`: a console without a robot, with a scripted small building.

For tests of the page, screenshots and trials. A directive drives the robot to an object, "which chair" returns a
question, STOP latches, corrections can be undone. Prints a one-time link, then runs until Ctrl-C.
Exit status: 0 ended; 2 it cannot be served with these arguments.
"""

from __future__ import annotations

import argparse
import sys
import threading

from lodestar.storage.private import UnsafeFolder
from lodestar_console.access.places import ServeError
from lodestar_console.web.console import ConsoleConfig
from scripted_robot.building import THINGS
from scripted_robot.console import ScriptedConsole


def main(arguments: list[str] | None = None) -> int:
    """Serve the scripted console until Ctrl-C; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripted_robot", description=__doc__)
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument(
        "--folder", default="", help="of token, sessions and journal; the user's where it is missing"
    )
    parser.add_argument("--role", default="command", choices=("look", "stop", "command"))
    parser.add_argument("--points", type=int, default=4000, help="of the cloud")
    parser.add_argument("--objects", type=int, default=len(THINGS), help="things on the map")
    options = parser.parse_args(arguments)
    config = ConsoleConfig(port=options.port, folder=options.folder)
    try:
        script = ScriptedConsole(config, options.points, options.objects)
    except (ServeError, UnsafeFolder, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{script.console.link(options.role)}\n")
    sys.stdout.flush()
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        script.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
