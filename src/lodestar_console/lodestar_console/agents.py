"""`python -m lodestar_console.agents add NAME --scopes look,drive`: manage the tokens of agents.

A token is printed once and stored as its digest. Exit status: 0 done; 1 no such agent; 2 bad usage, or the
folder cannot be used.
"""

from __future__ import annotations

import argparse
import sys
import time

from lodestar.storage.private import UnsafeFolder
from lodestar_console.access.keys import console_folder
from lodestar_console.access.sessions import SCOPES, AgentBook


def main(arguments: list[str] | None = None) -> int:
    """Add, remove or list agents; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m lodestar_console.agents",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("add", "remove", "list"))
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--scopes", default="look", help=f"some of {','.join(SCOPES)} (look)")
    parser.add_argument("--folder", default="", help="the console's folder, where it is not the user's")
    options = parser.parse_args(arguments)
    try:
        book = AgentBook(console_folder(options.folder))
        if options.what == "list":
            sys.stdout.write("".join(f"{name}\n" for name in book.names()))
        elif options.what == "remove":
            if not book.remove(options.name):
                sys.stderr.write("there is no agent of this name\n")
                return 1
        else:
            sys.stdout.write(f"{book.add(options.name, options.scopes.split(','), time.time())}\n")
    except ValueError as error:
        parser.error(str(error))
    except (UnsafeFolder, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
