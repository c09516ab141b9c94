"""Tests of the second test environment: all comparisons with PyTorch are found and none is skipped silently."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import run_torch_tests  # noqa: E402
from workspace_setup.checkout import SetupError  # noqa: E402


def test_the_files_with_the_mark_are_found() -> None:
    files = run_torch_tests.marked_files(("torch",))
    assert "src/lodestar/test/models/test_embedder.py" in files
    assert "src/lodestar/test/mapping/voxels/test_tsdf.py" in files
    assert all("mark.torch" in (ROOT / path).read_text() for path in files)


@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        ("pass", ""),
        ("assert False", "pytest ended with status 1"),
        ("pytest.skip('no library')", "1 were skipped, the first is"),
        (None, "pytest ended with status 5"),
    ],
)
def test_what_is_skipped_or_not_there_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str | None, trouble: str
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # plugins load slowly
    path = tmp_path / "test_comparison.py"
    mark = "" if body is None else "@pytest.mark.torch\n"
    path.write_text(f"import pytest\n\n{mark}def test_it():\n    {body or 'pass'}\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = torch: compares\n  cuda: GPU\n")
    arguments = ["-c", str(tmp_path / "pytest.ini"), "--rootdir", str(tmp_path), str(path)]
    assert run_torch_tests.run_tests(Path(sys.executable), arguments).startswith(trouble)
    if not trouble:
        assert run_torch_tests.run_tests(Path(sys.executable), arguments) == ""


def test_an_environment_that_cannot_be_made_fails_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_: object) -> Path:
        raise SetupError("the package index is not reached: check the network")

    monkeypatch.setattr(run_torch_tests, "make_environment", fails)
    monkeypatch.setattr(run_torch_tests, "run_tests", lambda *_: pytest.fail("without an environment"))
    assert run_torch_tests.main([]) == 1
    said = capsys.readouterr().err
    assert "FAILED" in said and "index is not reached" in said and len(said.splitlines()) == 1


def test_ci_runs_the_comparisons_after_the_tests() -> None:
    text = (ROOT / ".ci" / "run").read_text()
    assert text.index("make --no-print-directory test ||") < text.index(
        "make --no-print-directory test-torch"
    )


def test_this_environment_skips_them_with_a_reason() -> None:
    """Without torch the skip reason names the command; with torch the tests run."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "src/lodestar/test/models/test_embedder.py", "-k", "library",
         "-p", "no:cacheprovider"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert ("make test-torch" in done.stdout) == ("SKIPPED" in done.stdout)
