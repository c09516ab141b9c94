"""Tests of the articles of names."""

from __future__ import annotations

import pytest

from lodestar.models.english import with_article


@pytest.mark.parametrize(
    ("name", "said"),
    [("mug", "a mug"), ("apple", "an apple"), ("the mug", "the mug"), ("white shoes", "white shoes"),
     ("scissors", "scissors"), ("blue trousers", "blue trousers"), ("box of tissues", "a box of tissues"),
     ("desk with two drawers", "a desk with two drawers"), ("books on a shelf", "books on a shelf"),
     ("school bus", "a school bus"), ("chess board", "a chess board"), ("camera lens", "a camera lens"),
     ("children", "children"), ("glass", "a glass"), ("glasses", "glasses")],
)  # fmt: skip
def test_a_plural_has_no_article(name, said):
    assert with_article(name) == said
