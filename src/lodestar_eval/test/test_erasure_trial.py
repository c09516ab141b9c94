"""Tests of forgetting, randomly interleaved with other operations and with kills of the store's owner."""

from __future__ import annotations

import numpy as np
import pytest

from lodestar.memory.config import StoreConfig
from lodestar.memory.record_json import checked_vector
from lodestar.memory.store import MemoryStore
from lodestar_eval.erasure_trial import _secret_memory, _vectors, erasure, vectors_of


def test_every_vector_that_is_in_a_file_is_found(tmp_path):
    """The store normalises vectors again, which changes some of them in single precision, as stored by Milvus."""
    secrets = [f"SECRET-1-{number}-abc." for number in range(60)]
    with MemoryStore.open(StoreConfig(folder=str(tmp_path / "half"), dimension=16)) as store:
        for number, secret in enumerate(secrets):
            store.add(_secret_memory(secret, 3, float(number)), vectors_of([secret])[0])
        assert store.flush()
    rows = [checked_vector(vectors_of([secret])[0], 16) for secret in secrets]
    (tmp_path / "single").mkdir()
    (tmp_path / "single" / "x").write_bytes(np.array(rows, "<f4").tobytes())
    for folder in ("half", "single"):
        assert _vectors(tmp_path / folder, {secret.encode() for secret in secrets}) == len(secrets)
        assert _vectors(tmp_path / folder, {b"SECRET-2-0-abc."}) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "texts", "interleavings"), [("sqlite", 250, 3), ("milvus_lite", 40, 1)])
def test_what_was_forgotten_is_in_no_file_whenever_the_owner_is_killed(
    tmp_path, backend, texts, interleavings
):
    done = erasure(tmp_path, backend, texts, interleavings, 7)
    assert done.found == 0 and done.forgotten >= texts * interleavings
    assert done.kills >= interleavings and done.searches >= interleavings
