"""Fixtures of this folder, which is put on the path so that tests import its builders."""

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
