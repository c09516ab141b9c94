"""Wording of the outcomes of actions as sentences for people."""

from __future__ import annotations

from lodestar.scene.captions import clean_text
from lodestar.worldmodel.outcomes import ActionOutcome, Diagnosis, Discrepancy, Look, Result
from lodestar.worldmodel.trace_sentences import Names, belief_in_words, nameless

_RESULTS = {Result.COMMITTED: "as expected", Result.ROLLED_BACK: "failed", Result.CANCELLED: "not waited for"}
_LOOKS = {
    Look.WAIT: "stand and look for some seconds",
    Look.TURN: "turn to it",
    Look.FROM_ELSEWHERE: "look at it from another place",
}
_CAUSES = 3  # number of causes in a sentence


def discrepancy_in_words(found: Discrepancy, names: Names = nameless) -> str:
    """Return the differences from the expectation in words (VLM-DEWM C.6 c); "" if there are none."""
    parts = []
    if found.expected != found.actual:
        parts.append(f"expected {found.expected}, it is {found.actual}")
    if found.missing:
        parts.append(f"no longer so: {'; '.join(belief_in_words(b, names) for b in found.missing)}")
    if found.unexpected:
        parts.append(f"new: {'; '.join(belief_in_words(b, names) for b in found.unexpected)}")
    parts += [
        f"{names(identity) or f'entity {identity}'} moved by {metres:.1f} m"
        for identity, metres in found.drifts
    ]
    return "; ".join(parts)


def causes_in_words(diagnosis: Diagnosis) -> str:
    """Return the likeliest causes as text: "DOOR_CLOSED 87 %, WAY_BLOCKED_STATIC 9 %"."""
    return ", ".join(f"{one.cause.value} {one.probability:.0%}" for one in diagnosis.causes[:_CAUSES])


def look_in_words(diagnosis: Diagnosis) -> str:
    """Return in words the diagnostic observation that would separate the causes; "" if there is none."""
    said = _LOOKS.get(diagnosis.look, "")
    place = diagnosis.look_at
    return f"{said} ({place[0]:.1f}, {place[1]:.1f})" if said and place is not None else said


def result_in_words(outcome: ActionOutcome) -> str:
    """Return the result of an action and its reason, in words."""
    text = clean_text(outcome.text)
    return f"{_RESULTS[outcome.result]}{f': {text}' if text else ''}"
