"""Conversion of events to memories: changes of the scene, directives, decisions and statements by people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lodestar.memory.records import EventKind, MapName, Memory, Primitive, Source
from lodestar.scene.captions import clean_text

_LONG = 1000  # most characters of a text in an event's facts
_TEXT = 480  # most characters of an event's sentence; the text model reads 512


@dataclass(frozen=True)
class Place:
    """Place, map, session and robot of a memory. position: (3,) of base_link in map, metres; heading: radians."""

    position: np.ndarray
    heading: float = 0.0
    floor: int = 0
    region_id: int = 0
    region: str = ""
    robot: str = "robot"
    session: str = ""
    map: MapName = field(default_factory=lambda: MapName(1))


@dataclass(frozen=True)
class SceneChange:
    """Change of an entity that appeared, moved or vanished. stamp: time at which it was noticed, seconds.

    thing: the entity as it is now, or was before it vanished. before: centre (3,) of its former place in map,
    if it moved. last_seen: seconds. region, region_before: labels of the regions at its present and former
    place.
    """

    kind: EventKind
    stamp: float
    thing: Primitive
    name: str
    region: str = ""
    before: np.ndarray | None = None
    region_before: str = ""
    last_seen: float = float("nan")


@dataclass(frozen=True)
class DirectiveNews:
    """Beginning or end of a directive. understood: the directive as the robot parsed it, in words.

    began: seconds. For an end also: outcome (succeeded, failed, cancelled), code of follow_directive, reason in words,
    metres driven, ids of the entities that were found.
    """

    stamp: float
    text: str
    understood: str = ""
    began: float | None = None
    outcome: str = ""
    code: int = 0
    reason: str = ""
    driven: float = 0.0
    found: tuple[int, ...] = ()


@dataclass(frozen=True)
class DecisionNews:
    """A decision with its explanation. goal: (2+,) in map, metres. outcome: "" while it is pending.

    target: entity that the robot drives to, 0 = a place. turns: whether the robot only turns in place.
    """

    stamp: float
    epoch: int
    directive: str
    expert: str
    explanation: str
    goal: np.ndarray | None = None
    entity_ids: tuple[int, ...] = ()
    keyframe_ids: tuple[int, ...] = ()
    outcome: str = ""
    target: int = 0
    turns: bool = False


@dataclass(frozen=True)
class BeliefNews:
    """Change of a belief of the world model, in words.

    kind: as in `worldmodel.events.WorldEvent`. place: (2,) in map, metres; None = the belief is about no
    place.
    """

    stamp: float
    kind: str
    text: str
    entity_ids: tuple[int, ...] = ()
    entry: int = 0
    place: tuple[float, float] | None = None


def remember_change(change: SceneChange, place: Place) -> Memory:
    """Return a change of the scene as a memory."""
    centre = change.thing.centre
    name = _the(change.name)
    where = _in(change.region)
    facts = {
        "entity": str(change.thing.entity_id),
        "label": clean_text(change.thing.label),
        "name": clean_text(change.name),
        "position": _metres(centre),
        "region": clean_text(change.region),
        "noticed": _number(change.stamp),
    }
    if np.isfinite(change.last_seen):
        facts["last_seen"] = _number(change.last_seen)
    if change.kind is EventKind.MOVED and change.before is not None:
        distance = float(np.linalg.norm(centre[:2] - change.before[:2]))
        facts |= {
            "from": _metres(change.before),
            "from_region": clean_text(change.region_before),
            "distance": _number(distance),
        }
        way = f" from the {clean_text(change.region_before)}" if change.region_before else ""
        text = f"{name} moved {distance:.1f} m{way}{f' and is now{where}' if where else ''}."
    elif change.kind is EventKind.APPEARED:
        text = f"{name} appeared{where}; it was not there before."
    else:
        text = f"{name} is gone; it was{where or ' here'} before."
    return _memory(change.stamp, text, place, change.kind, facts, (change.thing,))


def remember_directive(news: DirectiveNews, place: Place) -> Memory:
    """Return the beginning or end of a directive as a memory; an end spans the time since the beginning."""
    text = _shortened(news.text or news.understood or "a task", 200)
    facts = {"directive": _long(news.text), "understood": _long(news.understood)}
    if not news.outcome:
        facts["phase"] = "begun"
        return _memory(news.stamp, f'The robot was told: "{text}".', place, EventKind.DIRECTIVE, facts)
    began = news.stamp if news.began is None else min(news.began, news.stamp)
    facts |= {
        "phase": "ended",
        "outcome": clean_text(news.outcome),
        "code": str(news.code),
        "reason": _long(news.reason),
        "began": _number(began),
        "ended": _number(news.stamp),
        "driven": _number(news.driven),
        "found": " ".join(str(i) for i in news.found),
    }
    why = _shortened(news.reason, 200).rstrip(".")
    said = f'The task "{text}" {_OUTCOMES.get(news.outcome, "ended")}{f": {why}" if why else ""}.'
    memory = _memory(news.stamp, said, place, EventKind.DIRECTIVE, facts)
    return replace(memory, start=began)


_OUTCOMES = {"succeeded": "was done", "failed": "failed", "cancelled": "was cancelled"}


def remember_decision(news: DecisionNews, place: Place, things: Sequence[Primitive] = ()) -> Memory:
    """Return a decision as a memory. things: the entities of its evidence, in their present state."""
    why = _shortened(news.explanation, 300).rstrip(".") or "no reason was given"
    facts = {
        "epoch": str(news.epoch),
        "directive": _long(news.directive),
        "expert": clean_text(news.expert),
        "explanation": _long(news.explanation),
        "entities": " ".join(str(i) for i in news.entity_ids),
        "outcome": clean_text(news.outcome),
    }
    if news.goal is not None and np.isfinite(news.goal).all():
        facts["goal"] = _metres(news.goal)
    memory = _memory(
        news.stamp, f"The robot decided: {why}.", place, EventKind.DECISION, facts, tuple(things)
    )
    return replace(memory, keyframe_ids=tuple(news.keyframe_ids))


def remember_belief(news: BeliefNews, place: Place, things: Sequence[Primitive] = ()) -> Memory:
    """Return a change of belief as a memory; its own place, if it has one, is stored as a fact.

    things: the objects that it concerns.
    """
    facts = {
        "change": clean_text(news.kind),
        "entry": str(news.entry) if news.entry else "",
        "entities": " ".join(str(i) for i in news.entity_ids),
    }
    if news.place is not None:
        facts["position"] = _metres(np.array(news.place))
    text = _shortened(news.text, _TEXT)
    return _memory(news.stamp, text, place, EventKind.BELIEF, facts, tuple(things))


def remember_word(
    stamp: float, text: str, place: Place, things: Sequence[Primitive] = (), corrects: int = 0
) -> Memory:
    """Return an operator's statement as a memory. Raises ValueError for a text without letters.

    things: the objects that it concerns. corrects: id of the memory that it corrects, 0 = none.
    """
    said = _shortened(text, _TEXT)
    if not any(c.isalpha() for c in said):
        raise ValueError("there are no words to remember; write a sentence")
    facts = {"said": _long(text)}
    memory = _memory(stamp, said, place, EventKind.TOLD, facts, tuple(things))
    return replace(memory, source=Source.OPERATOR, corrects=corrects)


def _memory(
    stamp: float,
    text: str,
    place: Place,
    kind: EventKind,
    facts: dict[str, str],
    things: tuple[Primitive, ...] = (),
) -> Memory:
    return Memory(
        0,
        text[:_TEXT],
        stamp,
        stamp,
        np.array(place.position, float),
        place.heading,
        place.floor,
        place.region_id,
        place.region,
        things,
        source=Source.EVENT,
        event=kind,
        facts={key: value for key, value in facts.items() if value},
        robot=place.robot,
        session=place.session,
        map=place.map,
    )


def _the(name: str) -> str:
    """Return the name as the subject of a sentence: with "The" in front, if needed."""
    name = clean_text(name) or "thing"
    return name[:1].upper() + name[1:] if name.casefold().startswith(("the ", "a ", "an ")) else f"The {name}"


def _in(region: str) -> str:
    region = clean_text(region)
    return f" in the {region}" if region else ""


def _metres(point: np.ndarray) -> str:
    """Return a position in map as text, metres: "1.20 3.40 0.85"."""
    return " ".join(f"{float(value):.2f}" for value in np.asarray(point, float))


def _number(value: float) -> str:
    return f"{float(value):.3f}"


def _shortened(text: str, letters: int) -> str:
    """Return an untrusted text on one line of at most `letters` characters, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * letters]).split())[
        :letters
    ].strip()


def _long(text: str) -> str:
    return _shortened(text, _LONG)
