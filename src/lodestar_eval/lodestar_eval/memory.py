"""Memory use of this process, as the kernel reports it."""

from __future__ import annotations

import ctypes
import gc
import os
import re
from pathlib import Path


def resident_bytes() -> int:
    """Return the current RAM of this process in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_bytes() -> int:
    """Return the largest RAM in bytes since `reset_peak`."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    if found is None:
        raise OSError("the kernel does not tell the peak of memory")
    return int(found[1]) * 1024


def reset_peak() -> None:
    """Return freed memory to the system and reset the peak to the current value. Raises OSError if that fails."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
