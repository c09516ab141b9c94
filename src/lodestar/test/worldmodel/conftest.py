"""Fixtures of the world model's tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for `trace_builders`

from trace_builders import furnished


@pytest.fixture
def world():
    """Return a furnished hall."""
    return furnished()
