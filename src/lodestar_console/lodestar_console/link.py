"""`python -m lodestar_console.link`: print a one-time link to the console that runs; it is valid for a minute.

Exit status: 0 printed; 2 no console runs here, or its folder cannot be used.
"""

from __future__ import annotations

import argparse
import sys
from urllib.parse import urlsplit

from lodestar.storage.private import UnsafeFolder
from lodestar_console.access.keys import ROLES, console_folder, last_address, link_to, secret_of
from lodestar_console.access.places import ServeError, in_address


def main(arguments: list[str] | None = None) -> int:
    """Print a link; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m lodestar_console.link",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--role", choices=ROLES, default="command", help="of who opens it (command)")
    parser.add_argument(
        "--address", default="", help="of the console; that of the last one where it is missing"
    )
    parser.add_argument("--folder", default="", help="the console's folder, where it is not the user's")
    options = parser.parse_args(arguments)
    try:
        folder = console_folder(options.folder)
        address = options.address.rstrip("/") or last_address(folder)
        if options.address and not _is_address(address):
            parser.error(f"{options.address!r} is no address of a console, such as http://127.0.0.1:8080")
        if not address:
            sys.stderr.write("no console runs here: start the stack with console:=true, or make demo\n")
            return 2
        sys.stdout.write(f"{link_to(address, secret_of(folder), options.role)}\n")
    except (UnsafeFolder, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _is_address(text: str) -> bool:
    """Return whether a text is scheme, host and port alone."""
    try:
        parts = urlsplit(text)
        whole = f"{parts.scheme}://{in_address(parts.hostname or '')}" + (
            f":{parts.port}" if parts.port else ""
        )
    except (ValueError, ServeError):
        return False
    return parts.scheme in ("http", "https") and whole == text.lower()


if __name__ == "__main__":
    sys.exit(main())
