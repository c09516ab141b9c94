"""Text of an answer for a terminal: the sentence, the proof with times and places, and a suggested directive."""

from __future__ import annotations

from datetime import datetime

from lodestar.memory.answer import Answer, AnswerPlace, Proof, ProofKind
from lodestar.memory.records import WALL_TIME
from lodestar.scene.captions import clean_text

_SHOWN = 6  # most pieces of proof shown
_TEXT = 100  # most characters per piece
_NAMES_SHOWN = 12
_NAMES = {
    ProofKind.CAPTION: "memory",
    ProofKind.KEYFRAME: "image",
    ProofKind.ENTITY: "thing",
    ProofKind.REGION: "room",
}


def answer_lines(answer: Answer, now: float | None, shown: int = _SHOWN) -> list[str]:
    """Return an answer as lines of text for a terminal.

    now: present stamp, seconds; None = unknown. shown: most places and most pieces of proof to list.
    """
    lines = [answer.sentence]
    facts = [f"confidence {answer.confidence:.2f}"]
    if answer.last_verified is not None:
        facts.append(f"last seen to be so {time_in_words(answer.last_verified, now)}")
    if answer.coverage is not None:
        facts.append(f"{answer.coverage:.0%} of the floor looked at")
    lines.append(f"  ({', '.join(facts)})")
    names = [clean_text(name) for name in answer.value.names if name.strip()]
    if names:
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        lines.append(f"  names: {', '.join(names[:_NAMES_SHOWN])}{more}")
    lines += [f"  place: {_place(place)}" for place in answer.value.places[:shown]]
    images = {proof.stamp: proof.id for proof in answer.proof if proof.kind is ProofKind.KEYFRAME}
    told = {proof.stamp for proof in answer.proof if proof.kind is ProofKind.CAPTION}
    # A memory is listed once, with its image, even if it proves several places.
    proofs = list(
        {
            (proof.kind, proof.id): proof
            for proof in reversed(answer.proof)
            if not (proof.kind is ProofKind.KEYFRAME and proof.stamp in told)
        }.values()
    )[::-1]
    lines += [f"  {_proof(proof, now, images.get(proof.stamp))}" for proof in proofs[:shown]]
    if len(proofs) > shown:
        lines.append(f"  and {len(proofs) - shown} more pieces of proof")
    if answer.directive:
        lines.append(f"  To find out, send: {answer.directive}")
    return lines


def time_in_words(stamp: float, now: float | None) -> str:
    """Return a stamp in words: "at 14:03:10, 8 min ago", or "at 95 s" for a simulated clock."""
    at = (
        datetime.fromtimestamp(stamp).strftime("%Y-%m-%d %H:%M:%S")
        if stamp >= WALL_TIME
        else f"{stamp:.0f} s"
    )
    if now is None:
        return f"at {at}"
    ago = max(now - stamp, 0.0)
    passed = (
        f"{ago:.0f} s" if ago < 120.0 else f"{ago / 60:.0f} min" if ago < 7200.0 else f"{ago / 3600:.1f} h"
    )
    return f"at {at}, {passed} ago"


def _place(place: AnswerPlace) -> str:
    x, y, z = place.centre
    seen = ""
    if place.viewpoint is not None:
        seen = f", seen from ({place.viewpoint[0]:.1f}, {place.viewpoint[1]:.1f})"
    return f"({x:.1f}, {y:.1f}, {z:.1f}) m{seen}"


def _proof(proof: Proof, now: float | None, image: int | None) -> str:
    x, y = proof.position[:2]
    text = clean_text(proof.text)
    text = f"{text[: _TEXT - 1]}…" if len(text) > _TEXT else text
    where = f"at ({x:.1f}, {y:.1f})"
    name = f"{_NAMES[proof.kind]} {proof.id}"
    if image is not None and proof.kind is not ProofKind.KEYFRAME:
        name = f"{name} (image {image})"
    return f"{name}, {time_in_words(proof.stamp, now)}, {where}: {text}".rstrip(": ")
