"""Parser of a mission's YAML file into records. It reports all problems at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from lodestar.missions.mission_tables import Table, Where, yaml_of
from lodestar.missions.records import FOREVER, ChangesStep, Mission, Place, Schedule, Step, StepKind
from lodestar.missions.sentences import sentence_problem
from lodestar.missions.times import DAYS, seconds_of, time_of_day

MAX_BYTES = 1 << 20
MAX_STEPS = 1000  # after blocks are expanded; chosen
MAX_ROUNDS = 100_000
MAX_RETRIES = 100
_REACH = 10_000.0  # metres from the origin of map; chosen
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_TOP = (
    "mission", "description", "reader", "keep_away_from", "on_failure", "retries", "retry_delay", "time_limit",
    "times", "every", "schedule", "steps",
)  # fmt: skip
_KINDS = tuple(kind.value for kind in StepKind)
_OPTIONS = ("name", "time_limit", "retries", "on_failure")
_LIMITED = (StepKind.DIRECTIVE, StepKind.WAYPOINT)


class BadMission(ValueError):
    """Error: the file is no valid mission. problems: one line per reason."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def load_mission(path: Path) -> Mission:
    """Return the mission of a file. Raises BadMission with all problems, OSError."""
    if path.stat().st_size > MAX_BYTES:
        raise BadMission([f"{path} has more than {MAX_BYTES} bytes"])
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadMission([f"{path} is not UTF-8: {error}"]) from error
    return read_mission(text)


def read_mission(text: str, check: Callable[[Step], str] = sentence_problem) -> Mission:
    """Return the mission of a text. check: returns why the robot could not parse a step's sentence, "" if it can.

    Raises BadMission.
    """
    problems: list[str] = []
    try:
        content = yaml_of(text, problems)
    except yaml.YAMLError as error:
        raise BadMission([f"this is no YAML: {' '.join(str(error).split())}"]) from error
    if not isinstance(content, dict):
        raise BadMission(["a mission is a table that begins with mission: NAME and has steps: a list"])
    mission = _mission(Table(content, Where("", problems), _TOP), check)
    if problems:
        raise BadMission(problems)
    return mission


def _mission(top: Table, check: Callable[[Step], str]) -> Mission:
    name = top.get("mission", str, "")
    if not _NAME.fullmatch(name):
        top.where.say("mission: needs a name of letters, digits, - and _, which also names its journal")
    defaults = {
        "time_limit": top.read("time_limit", seconds_of, 0.0),
        "retries": top.whole("retries", 0, 0, MAX_RETRIES),
        "go_on": _goes_on(top, False),
        "keep_away_from": top.texts("keep_away_from"),
    }
    reads_grammar = top.one_of("reader", ("grammar", "model"), "grammar") == "grammar"
    schedule = _schedule(top)
    every = top.read("every", seconds_of, 0.0)
    if schedule is not None and every:
        top.where.say(
            "every: a mission with a schedule begins its rounds at the times of that; leave one of both out"
        )
    repeated = bool(every) or schedule is not None
    rounds = FOREVER if repeated else 1
    if top.has("times") and top.value("times") != "forever":
        rounds = top.whole("times", 1, 1, MAX_ROUNDS)
    elif top.has("times"):
        rounds = FOREVER
    steps = _Steps(defaults, check, reads_grammar).read(top.value("steps"), top.where)
    if not steps and not top.where.problems:
        top.where.say("steps: needs at least one step")
    return Mission(
        name, tuple(steps), top.get("description", str, ""), rounds, every, schedule,
        top.read("retry_delay", seconds_of, Mission.retry_delay), reads_grammar,
    )  # fmt: skip


def _goes_on(table: Table, default: bool) -> bool:
    return table.one_of("on_failure", ("stop", "go_on"), "go_on" if default else "stop") == "go_on"


def _schedule(top: Table) -> Schedule | None:
    if not top.has("schedule"):
        return None
    table = top.table("schedule", ("at", "days", "window"))
    if table is None:
        return None
    said = table.value("at")
    at = []
    for one in said if isinstance(said, list) else filter(None, [said]):
        try:
            at.append(time_of_day(one))
        except ValueError as error:
            table.where.say(f"at: {error}")
    if said == [] or said is None:
        table.where.say('at: needs a time of day, for example "22:00"')
    days = [day.lower()[:3] for day in table.texts("days")]
    for day, whole in zip(days, table.texts("days")):
        if day not in DAYS:
            table.where.say(f"days: {whole!r} is none of {', '.join(DAYS)}")
    window = table.read("window", seconds_of, Schedule.window)
    return Schedule(tuple(sorted(set(at))), frozenset(DAYS.index(day) for day in days if day in DAYS), window)


class _Steps:
    """Reads a list of steps and its blocks of repeated steps."""

    def __init__(self, defaults: dict[str, Any], check: Callable[[Step], str], reads_grammar: bool) -> None:
        self._defaults, self._check, self._reads_grammar = defaults, check, reads_grammar

    def read(self, content: object, where: Where, label: str = "step ") -> list[Step]:
        """Return the steps, with blocks of repeated steps expanded; problems go to `where`."""
        if not isinstance(content, list):
            where.say("steps: is a list; each step begins with a dash")
            return []
        steps: list[Step] = []
        for number, entry in enumerate(content, start=1):
            at = where.inside(f"{label}{number}")
            if not isinstance(entry, dict):
                at.say(f"is a table such as '- directive: \"find the red chair\"', not {entry!r}")
            elif "repeat" in entry:
                steps += self._block(Table(entry, at, ("repeat", "steps")), f"{label}{number}.", where)
            else:
                steps += self._step(entry, at)
            if len(steps) > MAX_STEPS:
                at.say(f"with it there are more than {MAX_STEPS} steps")
                break
        return steps

    def _block(self, table: Table, label: str, where: Where) -> list[Step]:
        times = table.whole("repeat", 1, 1, MAX_STEPS)
        inside = self.read(table.value("steps"), where, label)
        if times * len(inside) > MAX_STEPS:
            table.where.say(f"repeat: {times} times {len(inside)} steps are more than {MAX_STEPS}")
            return inside
        return inside * times

    def _step(self, entry: dict[Any, Any], where: Where) -> list[Step]:
        kinds = [StepKind(key) for key in entry if key in _KINDS]
        table = Table(entry, where, (*_KINDS, "repeat", *_OPTIONS))
        if len(kinds) != 1:
            both = f"both {kinds[0].value} and {kinds[1].value}" if kinds else "none"
            where.say(f"needs one of {', '.join(_KINDS)}, or repeat with steps; it has {both}")
            return []
        kind = kinds[0]
        if kind not in _LIMITED and table.has("time_limit"):
            where.say("time_limit: is for directives and waypoints")
        limited = kind in _LIMITED
        common: dict[str, Any] = {
            "name": table.get("name", str, ""),
            "time_limit": table.read("time_limit", seconds_of, self._defaults["time_limit"])
            if limited
            else 0.0,
            "retries": table.whole("retries", self._defaults["retries"], 0, MAX_RETRIES),
            "go_on": _goes_on(table, self._defaults["go_on"]),
            "keep_away_from": self._defaults["keep_away_from"] if limited else (),
        }
        said_before = len(where.problems)
        own = _OWN[kind](table)
        if len(where.problems) > said_before:
            return []
        step = Step(kind, **own, **common)
        told = self._reads_grammar or kind is StepKind.WAYPOINT  # else a model reads it
        doubt = self._check(step) if told else ""
        if doubt:
            where.say(f"{kind.value}: {doubt}")
        return [step]


def _text(kind: StepKind) -> Callable[[Table], dict[str, Any]]:
    def read(table: Table) -> dict[str, Any]:
        return {"text": table.text(kind.value)}

    return read


def _waypoint(table: Table) -> dict[str, Any]:
    place = table.table("waypoint", ("x", "y", "heading_deg"))
    if place is None:
        return {}
    x, y = (place.number(key, -_REACH, _REACH) for key in ("x", "y"))
    heading = place.number("heading_deg", -360.0, 360.0) if place.has("heading_deg") else math.nan
    return {"place": Place(x, y, math.radians(heading))}


def _changes(table: Table) -> dict[str, Any]:
    if isinstance(table.value("changes"), str):
        return {"changes": ChangesStep(table.text("changes"))}
    options = table.table("changes", ("since", "after", "json", "priors", "learn", "tell"))
    if options is None:
        return {}
    since = options.text("since")
    texts: dict[str, Any] = {key: options.get(key, str, "") for key in ("after", "json", "priors")}
    flags: dict[str, Any] = {key: options.get(key, bool, False) for key in ("learn", "tell")}
    if flags["tell"] and texts["after"]:
        options.where.say("tell: is for the running stack; leave `after` out")
    if flags["learn"] and not texts["priors"]:
        options.where.say("learn: needs priors: FILE to write to")
    return {"changes": ChangesStep(since, **texts, **flags)}


_OWN: dict[StepKind, Callable[[Table], dict[str, Any]]] = {
    StepKind.DIRECTIVE: _text(StepKind.DIRECTIVE),
    StepKind.QUESTION: _text(StepKind.QUESTION),
    StepKind.WAYPOINT: _waypoint,
    StepKind.WAIT: lambda table: {"seconds": table.read("wait", seconds_of, 0.0)},
    StepKind.CHANGES: _changes,
    StepKind.SAVE: lambda table: {"folder": table.text("save")},
}
