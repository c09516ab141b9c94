"""Checks of the detector's vocabulary and of the sign reader's package."""

from __future__ import annotations

from collections.abc import Iterator

from lodestar.perception.lookout import VocabularyReport
from lodestar_ros.doctor.findings import Finding, Level, Observation

PAGE = "docs/how-to/detectors.md"
_SHOWN = 8  # most labels of a closed detector that are listed


def vocabulary(seen: Observation) -> Iterator[Finding]:
    """Find wanted words that the detector of a running stack cannot see."""
    if seen.vocabulary is not None:
        yield from sights(seen.vocabulary)
    elif seen.publishers.get(seen.full("perception/vocabulary")):
        yield Finding(
            Level.WARNING, "no_vocabulary", "perception has not said yet what its detector can see.",
            "wait until its weights are loaded, and look again; its log says what it waits for",
        )  # fmt: skip


def signs(seen: Observation) -> Iterator[Finding]:
    """Find a sign reader that runs on this computer without the package that it needs."""
    if seen.runs("sign_reader") and not seen.machine.reads_text:
        yield Finding(
            Level.WARNING, "no_sign_reader", "sign_reader runs, and rapidocr is not installed: no sign is read.",
            "make setup EXTRAS=signs (docs/how-to/buildings.md)",
        )  # fmt: skip


def sights(report: VocabularyReport) -> Iterator[Finding]:
    """Find wanted words that a detector cannot see, in its vocabulary report."""
    if report.problem:
        yield Finding(
            Level.FAULT, "blind_detector", f"The detector does not look for its words: {report.problem}.",
            f"see {PAGE}; until then the robot sees none of them",
        )  # fmt: skip
    elif not report.is_open and not report.names:
        yield Finding(
            Level.WARNING, "nameless", f"The detector ({report.detector}) gives no names, so it sees no word.",
            f"take another adapter, or shared.vision_model ({PAGE})",
        )  # fmt: skip
    elif report.unseen:
        yield Finding(
            Level.WARNING, "unseen_words", report.sentence,
            f"say it in another word, or take weights with text prompts ({PAGE})",
        )  # fmt: skip
    elif not report.is_open:
        more = len(report.names) - _SHOWN
        shown = ", ".join(report.names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        yield Finding(
            Level.NOTE, "closed_vocabulary", f"The detector ({report.detector}) sees these and nothing else: {shown}.",
            f"weights with text prompts see what a directive names ({PAGE})",
        )  # fmt: skip
