"""`python -m lodestar_console.link`: print a one-time link to the running console; it is valid for a minute.

Exit status: 0 printed; 2 no console runs here, or its folder cannot be used.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from lodestar.storage.private import UnsafeFolder
from lodestar_console.access.keys import ADDRESS, ROLES, console_folder, last_address, link_to, secret_of
from lodestar_console.access.places import ServeError, in_address

_PATIENCE = 120.0  # s, longest wait for the console of a stack that is starting


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
    parser.add_argument(
        "--since", type=float, help="wait for a console that comes up after this time, s since 1970"
    )
    options = parser.parse_args(arguments)
    try:
        folder = console_folder(options.folder)
        address = options.address.rstrip("/") or _address(folder, options.since)
        if options.address and not _is_address(address):
            parser.error(f"{options.address!r} is no address of a console, such as http://127.0.0.1:8080")
        if not address:
            sys.stderr.write("no console runs here: start the stack with console:=true, or make demo\n")
            return 2
        link = link_to(address, secret_of(folder), options.role)
        sys.stdout.write(f"The page: {link} (open it within a minute)\n" if options.since else f"{link}\n")
    except (UnsafeFolder, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except KeyboardInterrupt:  # the user stops the stack during the wait
        return 2
    return 0


def _address(folder: Path, since: float | None) -> str:
    """Return the address of the most recently started console, "" = none.

    since: wait, at most `_PATIENCE`, for a console that starts after this time, s since 1970.
    """
    file, end = folder / ADDRESS, time.monotonic() + _PATIENCE
    while since is not None and not (file.exists() and file.stat().st_mtime >= since):
        if time.monotonic() > end:
            return ""
        time.sleep(0.1)
    return last_address(folder)


def _is_address(text: str) -> bool:
    """Return whether a text consists of scheme, host and port only."""
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
