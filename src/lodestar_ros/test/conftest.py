"""Shared fixtures of the tests of lodestar_ros."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for directive_bench


def same(a, b, path="record"):
    """Assert that two records are equal field by field; floats within float32 precision."""
    if dataclasses.is_dataclass(a):
        assert type(a) is type(b), path
        for item in dataclasses.fields(a):
            same(getattr(a, item.name), getattr(b, item.name), f"{path}.{item.name}")
    elif isinstance(a, np.ndarray):
        assert np.allclose(a, b, atol=1e-6), path
    elif isinstance(a, dict):
        assert list(a) == list(b), path
        for key in a:
            same(a[key], b[key], f"{path}[{key}]")
    elif isinstance(a, tuple):
        assert len(a) == len(b), path
        for index, (x, y) in enumerate(zip(a, b)):
            same(x, y, f"{path}[{index}]")
    elif isinstance(a, float):
        assert a == pytest.approx(b, rel=1e-6, abs=1e-9), path
    else:
        assert a == b, path


@pytest.fixture
def assert_same():
    """Return a function that asserts that two records are equal, floats within float32 precision."""
    return same
