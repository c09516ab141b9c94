"""A one-time link works once, however its key is spelled."""

from __future__ import annotations

import string

import pytest

from lodestar_console.access.keys import LinkDesk, LinkRefused, new_key


def test_no_other_spelling_of_a_used_key_works(tmp_path):
    secret, now = b"s" * 32, 1000.0
    key, used = new_key(secret, "command", now), LinkDesk(tmp_path, secret)
    assert used.redeem(key, now) == "command"
    dot = key.index(".")
    for letter in string.ascii_letters + string.digits + "-_":
        with pytest.raises(LinkRefused):
            used.redeem(key[: dot - 1] + letter + key[dot:], now)
