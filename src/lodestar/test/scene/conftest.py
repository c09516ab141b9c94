"""Fixtures of this folder; its tests import their builders under any import mode."""

import sys
from pathlib import Path

import pytest

from lodestar.scene.dictionary import SceneDictionary

sys.path.insert(0, str(Path(__file__).parent))

from scene_builders import Feed


@pytest.fixture
def scene():
    return SceneDictionary()


@pytest.fixture
def feed():
    return Feed()
