"""Claim an unused ROS domain, so that two runs on one machine do not interfere."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Iterator

_FIRST, _LAST = 20, 100  # 7410 + 250 x domain stays below the ephemeral ports
_CLAIM_PORT = 17000  # plus the domain; bound while a run owns it


class NoFreeDomain(RuntimeError):
    """All domains are in use; the message says what to do."""


@contextlib.contextmanager
def free_domain() -> Iterator[int]:
    """Yield a domain unused on this machine and claim it until the context ends. Raises NoFreeDomain.

    The first participant of a domain binds the UDP port 7410 + 250 x domain (DDSI-RTPS 9.6.1). A second port marks the
    claim, from before the owner's first participant starts until its last one has ended.
    """
    candidates = list(range(_FIRST, _LAST))
    random.SystemRandom().shuffle(candidates)
    for domain in candidates:
        with contextlib.ExitStack() as claim:
            try:
                _bind(claim, _CLAIM_PORT + domain)
                with contextlib.ExitStack() as probe:
                    _bind(probe, 7410 + 250 * domain)
            except OSError:
                continue
            yield domain
            return
    raise NoFreeDomain(
        f"every ROS domain from {_FIRST} to {_LAST - 1} is in use on this machine; end other runs first"
    )


def _bind(stack: contextlib.ExitStack, port: int) -> None:
    stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)).bind(("0.0.0.0", port))
