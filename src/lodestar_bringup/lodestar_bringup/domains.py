"""Claim an unused ROS domain, so that two runs on one machine do not interfere."""

from __future__ import annotations

import contextlib
import random
import socket
import tempfile
from collections.abc import Iterator

from lodestar_bringup.places import StackError

MOTION_STATE = "LODESTAR_MOTION_STATE"  # as in lodestar_ros.motion.holds, which needs ROS
# first and last domain: their port 7410 + 250 x domain stays below the ephemeral ports
_FIRST, _LAST = 20, 100
_PARTICIPANTS = 120  # of one domain
_CLAIM_PORT = 17000  # base port of claims; this plus the domain is bound by the run that owns the domain


@contextlib.contextmanager
def free_domain() -> Iterator[int]:
    """Yield a domain that is unused on this machine, and claim it until the context ends. Raises StackError.

    Participant n of a domain binds the UDP port 7410 + 250 x domain + 2 n (DDSI-RTPS 9.6.1); a later one may outlive
    the first. The claim is another port, on the loopback interface, which is bound before the first participant
    starts and released after the last one has ended.
    """
    for domain in random.SystemRandom().sample(range(_FIRST, _LAST), _LAST - _FIRST):
        with contextlib.ExitStack() as claim:
            try:
                _bind(claim, "127.0.0.1", _CLAIM_PORT + domain)
                with contextlib.ExitStack() as probe:
                    for participant in range(_PARTICIPANTS):
                        _bind(probe, "0.0.0.0", 7410 + 250 * domain + 2 * participant)
            except OSError:
                continue
            yield domain
            return
    raise StackError(
        f"every ROS domain from {_FIRST} to {_LAST - 1} is in use on this machine; end other runs first"
    )


@contextlib.contextmanager
def session_environment(domain: int) -> Iterator[dict[str, str]]:
    """Yield the environment variables of a temporary session: its domain, and a folder for its holds.

    The folder is removed at the end, so that the files of a killed node do not hold the next session in this
    domain.
    """
    with tempfile.TemporaryDirectory(prefix="lodestar-motion-", ignore_cleanup_errors=True) as folder:
        yield {"ROS_DOMAIN_ID": str(domain), MOTION_STATE: folder}


def _bind(stack: contextlib.ExitStack, address: str, port: int) -> None:
    stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)).bind((address, port))
