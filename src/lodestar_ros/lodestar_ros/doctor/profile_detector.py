"""Trial of the detector that a profile names, before any node runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lodestar.assembly import parts
from lodestar.assembly.config import PerceptionConfig
from lodestar.assembly.profiles import read_profiles
from lodestar.perception.frames import DetectorUnavailable, Labeller
from lodestar.perception.lookout import VocabularyReport, WantedWords
from lodestar_ros.doctor.findings import Finding, Level
from lodestar_ros.doctor.word_checks import PAGE, sights


def try_detector(profile: Path, words: Sequence[str]) -> tuple[list[Finding], VocabularyReport | None]:
    """Return the findings about a profile's detector, and its report on the words; None if it could not be loaded.

    Loading the detector takes as long as reading its weights.
    """
    try:
        config = read_profiles([profile]).perception
    except (OSError, ValueError) as error:
        return [_fault("bad_profile", f"{profile} cannot be read: {error}.")], None
    try:
        detector = _detector(config)
        report = parts.lookout(config, detector).look_for(WantedWords("", tuple(words)))
    except DetectorUnavailable as error:
        return [_fault("no_detector", f"{profile.name}, adapter {config.adapter}: {error}.")], None
    except ValueError as error:
        return [_fault("bad_words", f"{profile.name}, words.file: {error}.")], None
    return list(sights(report)), report


def _detector(config: PerceptionConfig) -> Labeller:
    if config.adapter == "ground_truth":
        return parts.ground_truth_detector(config)
    return (
        parts.geometric_segmenter(config) if config.adapter == "geometric" else parts.color_detector(config)
    )


def _fault(check: str, what: str) -> Finding:
    return Finding(Level.FAULT, check, what, f"see {PAGE}")
