"""Forgetting in random interleavings with all other work and kill -9; `memory-scale` runs it with 1,000 texts each."""

from __future__ import annotations

import pytest

from lodestar_eval.erasure_trial import erasure

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("backend", "texts", "interleavings"), [("sqlite", 250, 3), ("milvus_lite", 40, 1)])
def test_what_was_forgotten_is_in_no_file_whenever_the_owner_is_killed(
    tmp_path, backend, texts, interleavings
):
    done = erasure(tmp_path, backend, texts, interleavings, 7, print)
    assert done.found == 0 and done.forgotten >= texts * interleavings
    assert done.kills >= interleavings and done.searches >= interleavings
