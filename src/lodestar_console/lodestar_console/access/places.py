"""Addresses to listen at. Imports little, because the demo imports this module first."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass

LAST_PORT = 65535
PORTS_TRIED = 20  # number of consecutive ports tried if one is taken

_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?\.?")


class ServeError(Exception):
    """The console cannot be served; the message gives the reason and the remedy."""


@dataclass(frozen=True)
class Place:
    """Address to serve at. certificate, key: TLS files, required for any address other than loopback."""

    host: str = "127.0.0.1"
    port: int = 8080
    certificate: str = ""
    key: str = ""


def in_address(host: str) -> str:
    """Return a host name or IP address in the form used in URLs and in the Host header: IPv6 in brackets.

    Raises ServeError for any other text, such as one with a port or a scheme.
    """
    try:
        number = ipaddress.ip_address("" if "%" in host else host.removeprefix("[").removesuffix("]"))
    except ValueError:
        if not _NAME.fullmatch(host):
            raise ServeError(
                f"{host!r} is no host: give a name or a number alone, such as robot.lan, 10.0.0.5 or ::1"
            ) from None
        return host.lower()
    return f"[{number}]" if number.version == 6 else str(number)


def bind(place: Place, *, shared: bool = False, before: int = 0) -> socket.socket:
    """Return a listening socket at the place, or at the next free port. Raises ServeError.

    shared: share the port with another process of this user that is about to release it. before: port to try
    first, that of a crashed console to which pages reconnect.
    """
    if not 0 <= place.port <= LAST_PORT:
        raise ServeError(f"port is {place.port}; it is 0 (any) to {LAST_PORT}")
    host = in_address(place.host).strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tried = PORTS_TRIED if place.port and not shared else 1
    ports = range(place.port, min(place.port + tried, LAST_PORT + 1))
    for port in sorted(ports, key=lambda port: port != before):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            listener.bind((host, port))
            listener.listen(128)
        except OSError as error:
            listener.close()
            problem = error
        else:
            return listener
    raise ServeError(f"no port from {place.port} on can be listened at on {place.host}: {problem}")
