"""Tests of stored parts of a benchmark that a later run reuses."""

from __future__ import annotations

import pytest

from lodestar_eval import finished_parts
from lodestar_eval.finished_parts import FinishedParts
from lodestar_eval.registry import BadOptions


def test_a_part_is_made_once_for_the_same_settings_and_again_for_others(tmp_path):
    made = []
    for settings in ((1,), (1,), (2,)):
        parts = FinishedParts(tmp_path / "mine", settings)
        found = parts.part("office-1", lambda used=settings: made.append(used) or {"right": 3})
        assert found == {"right": 3}
    assert made == [(1,), (2,)]


def test_without_a_folder_nothing_is_kept_and_what_failed_is_made_again(tmp_path):
    assert [FinishedParts(None, ()).part("a", lambda n=n: n) for n in (1, 2)] == [1, 2]
    parts = FinishedParts(tmp_path / "mine", ())
    with pytest.raises(KeyboardInterrupt):
        parts.part("a", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    assert parts.part("a", lambda: 5) == 5


def test_a_part_of_other_code_is_made_anew(tmp_path, monkeypatch):
    made = []
    for code in ("a", "a", "b"):
        monkeypatch.setattr(finished_parts, "code_digest", lambda code=code: code)
        FinishedParts(tmp_path / "mine", ()).part("office-1", lambda code=code: made.append(code))
    assert made == ["a", "b"]
    assert "earlier run" in FinishedParts(tmp_path, ()).notes[0] and FinishedParts(None, ()).notes == ()


def test_folders_and_parts_of_others_are_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(BadOptions, match="symbolic link"):
        FinishedParts(tmp_path / "link", ()).part("a", lambda: 1)
    parts = FinishedParts(tmp_path / "mine", ())
    parts.part("a", lambda: 1)
    (kept,) = (tmp_path / "mine").iterdir()
    kept.rename(tmp_path / "elsewhere")
    kept.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadOptions, match="link"):
        parts.part("a", lambda: 1)
