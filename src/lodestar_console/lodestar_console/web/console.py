"""The console without ROS: access, journal and web server around a board and a stack."""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass

from lodestar.language.halts import heard_stop
from lodestar.storage.files import write_file
from lodestar_console.access.door_keeper import DoorKeeper
from lodestar_console.access.keys import ADDRESS, console_folder, last_address, link_to, secret_of
from lodestar_console.access.lease import Holding
from lodestar_console.access.origins import Origins, is_loopback
from lodestar_console.access.places import Place, ServeError, bind, in_address
from lodestar_console.board.board import Board
from lodestar_console.web.app import make_app
from lodestar_console.web.hub import Hub
from lodestar_console.web.journal import Journal
from lodestar_console.web.lazy_door import LazyDoor
from lodestar_console.web.server import WebServer
from lodestar_console.web.stack_port import Stack


@dataclass(frozen=True)
class ConsoleConfig:
    """Address, port, TLS certificate, allowed host names and private folder of the console."""

    host: str = "127.0.0.1"  # address to listen at; beyond loopback a certificate is needed
    port: int = 8080  # the next free one where it is taken; 0 = any
    shared_port: bool = False  # the port is held by a process of this user, which gives it up
    certificate: str = ""  # file of the certificate, PEM
    certificate_key: str = ""  # file of its key, PEM; "" = in the same file
    host_names: tuple[str, ...] = ()  # under which other computers call the console
    agents_may_drive: tuple[str, ...] = ()  # agents that may take the lease without being offered it
    folder: str = ""  # of token, sessions and journal; "" = the user's


class Console:
    """A running console. Raises ServeError, UnsafeFolder or OSError, whose message gives the remedy."""

    def __init__(self, board: Board, stack: Stack, config: ConsoleConfig = ConsoleConfig()) -> None:
        secure = bool(config.certificate)
        if not is_loopback(config.host) and not secure:
            raise ServeError(
                f"the console is to listen at {config.host}, which others reach: give it a certificate "
                "(parameters certificate and certificate_key), or let it listen at 127.0.0.1 and use ssh -L"
            )
        self.folder = console_folder(config.folder)
        place = Place(config.host, config.port, config.certificate, config.certificate_key)
        died = last_address(self.folder).rpartition(":")[2]
        listener = bind(place, shared=config.shared_port, before=int(died) if died.isdecimal() else 0)
        self.port = int(listener.getsockname()[1])
        own = _own_name(config.host)
        names = tuple(dict.fromkeys(in_address(name) for name in (*config.host_names, own)))
        origins = Origins(self.port, names, secure=secure)
        self.door = DoorKeeper(self.folder, origins, self._lease_ended)
        self._stack = stack
        self.journal = Journal(self.folder, board)
        self.hub = Hub(board, stack, self.door)
        for agent in config.agents_may_drive:
            self.hub.offer(agent, True)
        host = own if is_loopback(config.host) else names[0]
        self.address = f"{'https' if secure else 'http'}://{in_address(host)}:{self.port}"
        door = LazyDoor(self.hub, self.journal, self.address)
        app, self.requests = make_app(self.hub, self.journal, door)
        self._server = WebServer(app, listener, place, self.door)
        self._server.start()
        # a thread, as the vocabulary of stops takes seconds to load; any mistyped text loads it
        threading.Thread(target=heard_stop, args=("stpo",), name="vocabulary", daemon=True).start()
        write_file(self.folder / ADDRESS, [self.address.encode()], durable=False)

    def _lease_ended(self, held: Holding) -> None:
        """Cancel the directive of an agent whose lease has ended."""
        self._stack.cancel_of(held.holder)

    def link(self, role: str = "command") -> str:
        """Return a new one-time link for a role."""
        return link_to(self.address, secret_of(self.folder), role)

    @property
    def is_alive(self) -> bool:
        """Return whether the web server runs."""
        return self._server.is_alive

    def close(self) -> None:
        """End all connections and write the journal."""
        self._server.close()
        if last_address(self.folder) == self.address:  # after a crash the file remains, for `bind`
            (self.folder / ADDRESS).unlink(missing_ok=True)
        self.journal.close()


def _own_name(host: str) -> str:
    """Return the host name of a console that listens at `host`; for all interfaces, this computer's name."""
    return socket.gethostname() if host.strip("[]") in ("0.0.0.0", "::") else host
