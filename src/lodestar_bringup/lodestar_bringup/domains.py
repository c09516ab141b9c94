"""A ROS domain of one's own, so that two runs on one machine do not hear each other."""

from __future__ import annotations

import contextlib
import random
import socket
from collections.abc import Iterator

_FIRST, _LAST = 20, 100  # 7410 + 250 x domain stays below the ports that the system hands out itself
_CLAIM_PORT = 17000  # plus the domain: bound as long as a run owns it


class NoFreeDomain(RuntimeError):
    """Every domain is taken; the message says what to do."""


@contextlib.contextmanager
def free_domain() -> Iterator[int]:
    """A domain that nobody on this machine uses, claimed until the context ends. Raises NoFreeDomain.

    The first participant of a domain binds the UDP port 7410 + 250 x domain (DDSI-RTPS 9.6.1); another port is the
    sign of the claim, from before the owner's first participant until its last has gone.
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
