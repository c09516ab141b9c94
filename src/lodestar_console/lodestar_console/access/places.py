"""Places to listen at. Light: the demo imports it before anything else."""

from __future__ import annotations

import socket
from dataclasses import dataclass

PORTS_TRIED = 20  # one after another, where a port is taken


class ServeError(Exception):
    """The console cannot be served; the message says why and what to do."""


@dataclass(frozen=True)
class Place:
    """Address to serve at. certificate, key: files of TLS, which everything beyond loopback needs."""

    host: str = "127.0.0.1"
    port: int = 8080
    certificate: str = ""
    key: str = ""


def bind(place: Place, *, shared: bool = False) -> socket.socket:
    """Return a listening socket at the place, or at the next free port. shared: with another process of this user,
    which gives it up. Raises ServeError.
    """
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    for port in range(place.port, place.port + (PORTS_TRIED if place.port and not shared else 1)):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            listener.bind((place.host.strip("[]"), port))
            listener.listen(128)
        except OSError as error:
            listener.close()
            problem = error
        else:
            return listener
    raise ServeError(f"no port from {place.port} on can be listened at on {place.host}: {problem}")
