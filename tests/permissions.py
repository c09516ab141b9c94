"""File permissions for tests that run as root."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3
_OVERRIDE = 1 << 1  # CAP_DAC_OVERRIDE


@contextmanager
def permissions_enforced() -> Iterator[None]:
    """Apply file permissions to this thread, which root would ignore otherwise."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, former = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, former) == 0
    lowered = (ctypes.c_uint32 * 6)(*former)
    lowered[0] &= ~_OVERRIDE  # of the effective set
    assert libc.capset(header, lowered) == 0
    try:
        yield
    finally:
        assert libc.capset(header, former) == 0
