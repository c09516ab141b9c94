"""The command line and the environment that /proc shows for a forked process."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_NAME = 15
_PR_SET_MM, _PR_SET_MM_MAP = 35, 14
# Indices of fields in /proc/self/stat, counted from the state, which follows the name (proc(5) counts from the pid).
_STAT = {
    "start_code": 23, "end_code": 24, "start_data": 42, "end_data": 43, "start_brk": 44, "start_stack": 25,
}  # fmt: skip
_listed: list[ctypes.Array[ctypes.c_char]] = []  # buffers that the kernel reads until the process ends


class _MemoryMap(ctypes.Structure):
    """`struct prctl_mm_map` of linux/prctl.h."""

    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("start_code", "end_code", "start_data", "end_data")),
        *((name, ctypes.c_uint64) for name in ("start_brk", "brk", "start_stack", "arg_start", "arg_end")),
        *((name, ctypes.c_uint64) for name in ("env_start", "env_end", "auxv")),
        ("auxv_size", ctypes.c_uint32),
        ("exe_fd", ctypes.c_int32),
    )


def list_as(name: str, arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Show this process in /proc with a name, a command line and an environment of its own, as if it had been executed.

    Returns whether the kernel accepted the command line; the name, of 15 characters, is set in any case.
    """
    _LIBC.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0)
    line = _block(arguments)
    variables = _block(f"{key}={value}" for key, value in environment.items())
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    _LIBC.sbrk.restype = ctypes.c_void_p
    start, end = ctypes.addressof(line), ctypes.addressof(variables)
    places = _MemoryMap(
        **{field: int(stat[place]) for field, place in _STAT.items()},
        brk=_LIBC.sbrk(0),
        arg_start=start,
        arg_end=start + len(line) - 1,
        env_start=end,
        env_end=end + len(variables) - 1,
        exe_fd=-1,
    )
    taken = _LIBC.prctl(_PR_SET_MM, _PR_SET_MM_MAP, ctypes.byref(places), ctypes.sizeof(places), 0) == 0
    if taken:
        _listed.extend((line, variables))
    return bool(taken)


def _block(texts: Iterable[str]) -> ctypes.Array[ctypes.c_char]:
    """Return strings in the kernel's layout: each ends with a zero byte; one more ends the buffer."""
    return ctypes.create_string_buffer(
        b"".join(text.encode(errors="surrogateescape") + b"\0" for text in texts)
    )
