"""Environments under which the numerical libraries compute as on another processor.

They leave out instructions that this one has. So they show what an older or another maker's processor does, and no more
than this one can.
"""

from __future__ import annotations

from pathlib import Path

#: By name: variables, and the instructions that NumPy leaves out.
_PROCESSORS: dict[str, tuple[dict[str, str], str]] = {
    "native": ({}, ""),
    # AVX2 and FMA without AVX-512: Intel before 2017 and on desktops, AMD before Zen 4.
    "avx2": (
        {
            "OPENBLAS_CORETYPE": "Haswell",
            "NUMBA_CPU_NAME": "haswell",
            "NUMBA_CPU_FEATURES": "",
            "OPENCV_CPU_DISABLE": "AVX512-SKX",
        },
        "X86_V4 AVX512_ICL AVX512_SPR",
    ),
    # SSE alone, and the C library without FMA.
    "generic": (
        {
            "OPENBLAS_CORETYPE": "Prescott",
            "NUMBA_CPU_NAME": "generic",
            "NUMBA_CPU_FEATURES": "",
            "OPENCV_CPU_DISABLE": "AVX,AVX2,FMA3,AVX512-SKX",
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4",
        },
        "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    ),
}

PROCESSORS = tuple(_PROCESSORS)


def environment_of(processor: str, caches: Path) -> dict[str, str]:
    """Return the variables to add to a process's environment. caches: folder for kernels that are compiled for it."""
    variables, left_out = _PROCESSORS[processor]
    if not variables:
        return {}
    numba = {"NUMBA_CACHE_DIR": str((caches / f"numba-{processor}").resolve())}
    return {**variables, **numba, "NPY_DISABLE_CPU_FEATURES": left_out}
