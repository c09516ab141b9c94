"""The states of a `Rig` as values, and its steps as a table, so that an explorer visits millions of them.

A state is a tuple of parts, one of each process, and of the messages on their way. A step reads and changes one process
and takes one message at most. It is carried out by the real classes, put into that part on a bench, the first time that
it is met, and looked up from then on. A part is a shape and the numbers of records in it, which count by their order.
A state holds the parts and queues by their places in a list, so that it is a short tuple of small numbers.
"""

from __future__ import annotations

import json
import time
from collections import deque
from types import SimpleNamespace
from typing import Any

from motion_rig import NODES, Broken, GateShell, Rig, Shell
from rclpy.task import Future

from lodestar_interfaces.srv import PlaceHold, ReleaseHold
from lodestar_ros.motion.authority import UNTOLD, Kind, MotionAuthority, Record, Standing, _owners
from lodestar_ros.motion.gate import ZERO, MotionGate
from lodestar_ros.motion.holds import holds_to_msg

Part = tuple[int, tuple[int, ...]]  # number of a shape, and the numbers of records in it, in order
State = tuple[Any, ...]  # places in VALUES and flags; see the slots below

#: Slots of a state: what the gate tells, the rest of the gate, the other processes, queues, and flags: which words of
#: the gate are on their way, whether the gate has the newest heartbeat, and owners whose stop was answered.
WORD, GATE, SELECTOR, BASE, PAGE = range(5)
QUEUES = ("selector>gate", "base>gate", "console>gate", "answer>selector", "answer>base", "beat")
SLOT = {name: 5 + place for place, name in enumerate(QUEUES)}
PENDING, INFORMED, ANSWERED = 11, 12, 13
FAR = 1000  # numbers that the gate gives on the bench are above it or directly above those of the state
RELEASE, PLACED = ReleaseHold.Request, PlaceHold.Request


class N(int):
    """The number of a record."""


SHAPES: list[Any] = []
_INDEX: dict[Any, int] = {}


def part(content: Any) -> Part:
    """Return nested tuples as a part. Numbers of records up to 0 mean something by themselves, and stay."""
    numbers: list[int] = []

    def shape(one: Any) -> Any:
        if isinstance(one, tuple):
            return tuple(shape(inner) for inner in one)
        if isinstance(one, N):
            if one > 0:
                numbers.append(int(one))
                return "#"
            return int(one)
        return one

    found = shape(content)
    place = _INDEX.setdefault(found, len(SHAPES))
    if place == len(SHAPES):
        SHAPES.append(found)
    return place, tuple(numbers)


def content_of(one: Part) -> Any:
    """Return a part as nested tuples."""
    numbers = iter(one[1])

    def fill(shape: Any) -> Any:
        if isinstance(shape, tuple):
            return tuple(fill(inner) for inner in shape)
        return N(next(numbers)) if shape == "#" else shape

    return fill(SHAPES[one[0]])


VALUES: list[Any] = []  # parts, and queues as tuples of parts
_PLACES: dict[Any, int] = {}
_MASKS: list[int] = []  # of each value, the numbers of records in it: bit 0 is number 1
_RENAMED: dict[tuple[int, int], int] = {}


def place_of(value: Any) -> int:
    """Return the place of a part or queue in `VALUES`."""
    found = _PLACES.get(value)
    if found is None:
        found = _PLACES[value] = len(VALUES)
        VALUES.append(value)
        _MASKS.append(0)
        for number in _numbers(value):
            _MASKS[found] |= 1 << number - 1
    return found


def _is_part(value: tuple) -> bool:
    return bool(value) and isinstance(value[0], int)


def _numbers(value: Any) -> list[int]:
    return list(value[1]) if _is_part(value) else [n for one in value for n in one[1]]


def _renamed(value: Any, new: Any) -> Any:
    """Return a part or queue with other numbers."""
    if _is_part(value):
        return value[0], tuple([new[n] for n in value[1]])
    return tuple([(one[0], tuple([new[n] for n in one[1]])) for one in value])


NOTHING = place_of(())  # an empty queue

# --- processes as parts -----------------------------------------------------------------------------------------


def _word(standing: Standing) -> tuple:
    records = tuple((int(one.kind), one.who, N(one.number)) for one in standing.records)
    return N(standing.number), N(standing.last_hold), records


def _standing(word: tuple) -> Standing:
    number, last_hold, records = word
    if number == UNTOLD.number:
        return UNTOLD
    return Standing(
        int(number), int(last_hold), tuple(Record(int(n), Kind(kind), who) for kind, who, n in records)
    )


def take_gate(rig: Rig) -> tuple[Part, Part]:
    """Return the gate of a rig: what it tells, and the rest."""
    shell, now = rig.gate, rig.now
    gate, standing, disk = shell.gate, shell._authority.standing, json.loads(rig.disk.text or "")
    kept = sorted(disk["records"], key=lambda one: one["number"])
    owners = tuple((one["kind"], one["who"]) for one in kept)
    if set(owners) != {(int(kind), who) for kind, who in _owners(standing)}:
        raise Broken("the file has other records than the gate")
    holds = any(kind == Kind.HOLD for kind, _ in owners)
    if shell._authority.fault or not (holds or disk["last_hold"] == standing.last_hold):
        raise Broken("the file is not of now")
    if not standing.number <= disk["number"]:
        raise Broken("a crash would give a number twice")
    gate.on_command((0.5, 0.0, 0.0), now)
    passes = gate.output(now) != ZERO
    if passes and standing.records:
        raise Broken("a velocity leaves though a record stands")
    rest = passes, gate._beat == now, gate._allowed, N(gate._follows), owners
    return part(_word(standing)), part(rest)


def put_gate(rig: Rig, word: Part, rest: Part) -> None:
    """Give a rig this gate, and the file that it has written."""
    standing = _standing(content_of(word))
    _, fresh, allowed, follows, owners = content_of(rest)
    kept = [
        {"number": place, "kind": kind, "who": who, "why": "", "since": 0.0}
        for place, (kind, who) in enumerate(owners, 1)
    ]
    rig.disk.text = json.dumps(
        {"number": FAR, "last_hold": standing.last_hold, "records": kept, "release": None}
    )
    shell = GateShell.__new__(GateShell)
    Shell.__init__(shell, rig, "gate")
    authority = MotionAuthority.__new__(MotionAuthority)
    authority.fault, authority._file, authority._reserved, authority.standing = "", rig.disk, FAR, standing
    shell._authority, shell.gate = authority, MotionGate(authority)
    shell._holds = SimpleNamespace(publish=rig.tell)
    shell.gate._allowed, shell.gate._follows = allowed, int(follows)
    if fresh:
        shell.gate._beat = rig.now
    rig.gate = shell


def _take_follower(follower: Any) -> tuple:
    asked = follower._asked
    ages = tuple(sorted(range(len(asked)), key=lambda place: list(asked.values())[place].since))
    waits = any(not one.number for one in asked.values())
    rows = tuple(
        (int(kind), who, N(one.number), not one.number and (kind, who) in follower._sent)
        for (kind, who), one in asked.items()
    )
    return waits, _word(follower._told), rows, ages


def _put_follower(follower: Any, told: tuple, rows: tuple, ages: tuple) -> None:
    follower._told = _standing(told)
    follower._asked, follower._sent = {}, {}
    for place, (kind, who, number, sent) in enumerate(rows):
        owner = Kind(kind), who
        follower._asked[owner] = Record(int(number), *owner, "", float(ages.index(place)))
        if sent:
            follower._sent[owner] = time.monotonic(), _future(follower, follower._asked[owner])
    tell, follower._on_change = follower._on_change, lambda standing: None
    follower._follow()
    follower._on_change = tell


def _future(follower: Any, record: Record) -> Future:
    future = Future()
    future.add_done_callback(lambda done: follower._on_placed(record, done))
    return future


def take_selector(rig: Rig) -> Part:
    """Return the goal selector of a rig."""
    loop, thread, follower = rig.loop, rig.thread, rig.stops._holds
    if thread.told.hold and thread.motion_allowed:
        raise Broken("the goal selector allows motion though it is held")
    if thread.motion_allowed and follower._asked:
        raise Broken("the goal selector allows motion though it has acknowledged a stop")
    assert thread.told == follower.standing and thread.status == thread._read() and not thread._outbox
    assert thread._stops == len(thread._halts)
    halts: list[str] = []
    for halt in thread._halts:
        work = dict(zip(halt.__code__.co_freevars, halt.__closure__))["work"].cell_contents
        label = "follow" if work.__name__ == "_follow" else "cancel"  # a clock that jumps cancels
        if halts[-1:] != [label]:  # a second one directly after the first changes nothing
            halts.append(label)
    assert thread._reads_told == ("follow" in halts)
    news, beaten = rig.news(), rig.beaten
    waits, *holds = _take_follower(follower)
    flags = loop.goal, news != beaten, waits, bool(halts or thread._inbox)
    state = loop.run, loop.held, loop.paused, bool(thread._inbox), tuple(halts)
    return part(
        (flags, state, N(thread.follows), N(thread._last_hold), (*beaten[:2], N(beaten[2])), tuple(holds))
    )


def put_selector(rig: Rig, selector: Part) -> None:
    """Give a rig this goal selector."""
    (goal, *_), (run, held, paused, starts, halts), follows, last_hold, beaten, holds = content_of(selector)
    rig.begin_selector(False)
    rig.channels.clear()
    loop, thread = rig.loop, rig.thread
    loop.run, loop.goal, loop.held, loop.paused = run, goal, held, paused
    _put_follower(rig.stops._holds, *holds)
    thread.told = rig.stops._holds.standing
    thread.follows, thread._last_hold = int(follows), int(last_hold)
    thread._halts.clear()
    thread._stops, thread._reads_told = 0, False
    for label in halts:
        if label == "follow":
            thread.follow(thread.told)
        else:
            thread.stop(loop.cancel)
    if starts:
        thread.ask(loop.start, lambda _: None, None)
    thread.status = thread._read()
    if len(beaten) == 3:
        rig.beaten = (*beaten[:2], int(beaten[2]))
    else:
        rig.beaten = rig.news() if beaten == ("same",) else (None, None, -2)


def take_base(rig: Rig) -> Part:
    """Return the base of a rig."""
    assert rig.rules.standing == rig.follower.standing
    rig.rules.on_state(0.0, rig.now)
    rig.rules.on_legs(0.0, 0.3, rig.now)
    walks = not rig.rules.blocked_by(rig.now)
    if walks and (rig.follower._asked or any(one.startswith("base") for one in rig.answered)):
        raise Broken("the robot walks though go2_base has acknowledged a hold")
    waits, *holds = _take_follower(rig.follower)
    return part(((walks, None, waits), tuple(holds)))


def put_base(rig: Rig, base: Part) -> None:
    """Give a rig this base."""
    rig.begin_base(False)
    _put_follower(rig.follower, *content_of(base)[1])
    rig.rules.standing = rig.follower.standing


def take_page(rig: Rig) -> Part:
    """Return the records that the page shows."""
    shown = rig.stack._robot.standing
    return part((shown.is_told, _word(shown)[2]))


def put_page(rig: Rig, page: Part) -> None:
    """Give a rig a page that shows these records."""
    is_told, records = content_of(page)
    rig.begin_console()
    rig.stack._robot.standing = _standing((N(0 if is_told else -1), N(0), records))


# --- messages as parts ------------------------------------------------------------------------------------------


def take_request(rig: Rig, channel: str, item: Any) -> Part:
    """Return a request to the gate. Whether its answer counts: its sender has not asked again since."""
    request, future = item
    if isinstance(request, RELEASE):
        return part(("release", N(request.number)))
    owner = Kind(request.kind), request.who
    return part(("place", int(request.kind), request.who, counts(rig, channel, owner, future)))


def counts(rig: Rig, channel: str, owner: Any, future: Future) -> bool:
    """Return whether the sender of a request waits for this answer."""
    if channel.startswith("console"):
        return False
    follower = rig.stops._holds if channel.startswith("selector") else rig.follower
    asked = follower._asked.get(owner)
    return asked is not None and not asked.number and follower._sent.get(owner, (0, None))[1] is future


def take_queues(rig: Rig) -> dict[str, tuple[Part, ...]]:
    """Return all messages on their way but the gate's latched word; answers that change nothing are left out."""
    found: dict[str, tuple[Part, ...]] = {}
    for name in QUEUES[:3]:
        found[name] = tuple(take_request(rig, name, item) for item in rig.channels.get(name, ()))
    for name in QUEUES[3:5]:
        sender = name.removeprefix("answer>")
        found[name] = tuple(
            part(("answer", int(owner[0]), owner[1], N(response.number)))
            for future, response, owner in rig.channels.get(name, ())
            if owner is not None and counts(rig, sender, owner, future)
        )
    found["beat"] = tuple(
        part(("beat", allowed and goal, N(follows)))
        for allowed, goal, follows in rig.channels.get("beat", ())
    )
    return found


def take(rig: Rig) -> State:
    """Return the state of a rig, its numbers in order."""
    word, gate = take_gate(rig)
    queues = take_queues(rig)
    pending = tuple(bool(rig.channels.get(f"gate>{name}")) for name in NODES[1:])  # base, selector, console
    return ranked((
        word, gate, take_selector(rig), take_base(rig), take_page(rig), *(queues[name] for name in QUEUES),
        pending, rig.informed, tuple(sorted(rig.answered)),
    ))  # fmt: skip


def ranked(values: list[Any]) -> State:
    """Return a state of these values and flags, with the numbers of its records from 1 on, in their order."""
    numbers = sorted({n for value in values[:PENDING] for n in _numbers(value)})
    new = {number: place for place, number in enumerate(numbers, 1)}
    return (*[place_of(_renamed(value, new)) for value in values[:PENDING]], *values[PENDING:])


def reranked(state: Any) -> State:
    """Return a state whose numbers may have gaps with numbers from 1 on, in their order."""
    mask = 0
    for place in state[:PENDING]:
        mask |= _MASKS[place]
    if not mask & (mask + 1):
        return tuple(state)
    found = []
    for place in state[:PENDING]:
        other = _RENAMED.get((place, mask)) if _MASKS[place] else place
        if other is None:
            numbers = [n for n in range(1, mask.bit_length() + 1) if mask >> n - 1 & 1]
            new = {number: rank for rank, number in enumerate(numbers, 1)}
            other = _RENAMED[place, mask] = place_of(_renamed(VALUES[place], new))
        found.append(other)
    return (*found, *state[PENDING:])


def shape_of(state: Any, slot: int) -> Any:
    """Return the shape of a process of a state."""
    return SHAPES[VALUES[state[slot]][0]]


# --- the table --------------------------------------------------------------------------------------------------


class Table:
    """Steps of states, each carried out once by the real classes. Use it within `Patches`."""

    def __init__(self) -> None:
        self.bench = Rig()
        self._known: dict[Any, Any] = {}
        self._steps: dict[Any, Any] = {}  # the same by the parts as they are, with their numbers
        self._joined: dict[Any, int] = {}

    @property
    def known(self) -> int:
        """Return the number of steps that the real classes have carried out."""
        return len(self._known)

    def begin(self) -> State:
        """Return the state in which everybody has heard the gate's first word."""
        rig = Rig()
        rig.settle()
        return take(rig)

    def names(self, state: Any, events: bool) -> list[str]:
        """Return the steps that a state allows, with or without events."""
        found = [name for slot, name in ARRIVALS if state[slot] != NOTHING]
        for name, waits in zip(HEARINGS, state[PENDING]):
            if waits:
                found.append(name)
        (_, news, waits, works), base = shape_of(state, SELECTOR)[0], shape_of(state, BASE)[0]
        if works:
            found.append("work")
        if news or not (shape_of(state, GATE)[1] or state[SLOT["beat"]] != NOTHING):
            found.append("beat")
        if waits and state[SLOT["selector>gate"]] == state[SLOT["answer>selector"]] == NOTHING:
            found.append("selector asks again")
        if base[2] and state[SLOT["base>gate"]] == state[SLOT["answer>base"]] == NOTHING:
            found.append("base asks again")
        return found + list(EVENTS) if events else found

    def after(self, state: Any, name: str) -> State:
        """Return the state after a step. Raises Broken if a promise is broken."""
        return reranked(self.changed(state, name))

    def changed(self, state: Any, name: str) -> list[Any]:
        """Return the state after a step, with the numbers that stay; there may be gaps."""
        hearer = PLANS[name][2]
        changed, dead, sent, tells, informed, answered = self._changes(state, name)
        after = list(state)
        if hearer >= 0:
            after[PENDING] = (*state[PENDING][:hearer], False, *state[PENDING][hearer + 1 :])
        for slot, place in changed:
            after[slot] = place
        for slot, owners in dead:
            after[slot] = place_of(self._without_answers(VALUES[after[slot]], owners))
        for slot, place in sent:
            after[slot] = place if slot == SLOT["beat"] else self._join(after[slot], place)
        if name == "gate killed":
            after[5:11] = [NOTHING] * 6
        if tells is not None:
            after[PENDING] = tuple([was or told for was, told in zip(after[PENDING], tells)])
        if informed is not None:
            after[INFORMED] = informed
        after[ANSWERED] = answered
        return after

    def sends(self, state: Any, name: str) -> bool:
        """Return whether a step changes more than its process and what it takes."""
        _, _, sent, tells, informed, answered = self._changes(state, name)
        return bool(sent or tells or informed is not None or answered != state[ANSWERED])

    def tells(self, state: Any, name: str) -> bool:
        """Return whether the gate tells something in a step, or changes what it would tell."""
        changed, _, _, tells, *_ = self._changes(state, name)
        return tells is not None or dict(changed).get(WORD, state[WORD]) != state[WORD]

    def _changes(self, state: Any, name: str) -> tuple:
        process, queue, hearer = PLANS[name]
        word = state[WORD] if process == GATE or hearer >= 0 else 0
        key = name, state[process], word, state[queue] if queue else 0, state[ANSWERED]
        found = self._steps.get(key)
        if found is None:
            found = self._steps[key] = self._look_up(state, name)
        return found

    def _join(self, queue: int, more: int) -> int:
        if queue == NOTHING:
            return more
        found = self._joined.get((queue, more))
        if found is None:
            found = self._joined[queue, more] = place_of(VALUES[queue] + VALUES[more])
        return found

    def _look_up(self, state: Any, name: str) -> tuple:
        """Return what a step changes; the real classes carry it out if it is new but for the numbers."""
        process, queue, hearer = PLANS[name]
        slots = (WORD, GATE) if process == GATE else (process,)
        parts = [VALUES[state[slot]] for slot in slots]
        if queue:
            parts.append(VALUES[state[queue]][0])
        elif hearer >= 0:
            parts.append(VALUES[state[WORD]])
        numbers = [number for one in parts for number in one[1]]
        old = sorted(set(numbers))
        rank = {number: place for place, number in enumerate(old, 1)}
        key = name, tuple([one[0] for one in parts]), tuple([rank[n] for n in numbers]), state[ANSWERED]
        found = self._known.get(key)
        if found is None:
            local = [(one[0], tuple(rank[n] for n in one[1])) for one in parts]
            try:
                found = self._known[key] = self._carry_out(process, name, local, state[ANSWERED], len(old))
            except Broken as broken:
                broken.args = (f"{broken}, in the step {name!r}",)
                raise
        changed, sent, dead, tells, informed, answered, fresh = found
        word = VALUES[state[WORD]][1]
        newest = word[0] if word else 0
        names = (0, *old, *range(newest + 1, newest + 1 + fresh))
        places = [(slot, place_of(_renamed(one, names))) for slot, one in zip(slots, changed)]
        if queue:
            places.append((queue, place_of(VALUES[state[queue]][1:])))
        messages = [(slot, place_of(_renamed(items, names))) for slot, items in sent]
        return places, list(dead.items()), messages, tells, informed, answered

    @staticmethod
    def _without_answers(queue: tuple, owners: Any) -> tuple:
        """Return a queue whose requests and answers of some owners count no more."""
        found = []
        for one in queue:
            shape = SHAPES[one[0]]
            if shape[0] == "release" or tuple(shape[1:3]) not in owners:
                found.append(one)
            elif shape[0] == "place":
                found.append(part((*shape[:3], False)))
        return tuple(found)

    def _carry_out(self, process: int, name: str, parts: list[Part], answered: tuple, most: int) -> tuple:
        """Return what a step does: parts, messages sent, owners whose requests count no more, and flags."""
        rig = self.bench
        rig.now, rig.due, rig.latched = 100.0, set(), None
        before: dict[Any, Future] = {}
        follower = None
        if process == GATE:
            put_gate(rig, *parts[:2])
            rig.due = {one.number for one in rig.gate._authority.standing.records}
        elif process == SELECTOR:
            put_selector(rig, parts[0])
            follower = rig.stops._holds
        elif process == BASE:
            put_base(rig, parts[0])
            follower = rig.follower
        else:
            put_page(rig, parts[0])
        if follower is not None:
            before = {owner: sent[1] for owner, sent in follower._sent.items()}
        rig.channels.clear()
        rig.answered, rig.informed = set(answered), None
        if name[0] == "<":
            rig.channels[name[1:]] = deque([self._message(rig, name[1:], parts[-1], follower)])
        if name[0] == "<":
            rig.deliver(name[1:])
        else:
            (rig.events() | rig.own_steps())[name]()
        return self._outcome(process, rig, before, most)

    def _message(self, rig: Rig, channel: str, one: Part, follower: Any) -> Any:
        content = content_of(one)
        if channel.startswith("gate>"):
            return holds_to_msg(_standing(content), "")
        if content[0] == "beat":
            return content[1], True, int(content[2])
        if content[0] == "release":
            return RELEASE(number=int(content[1])), Future()
        owner = Kind(content[1]), content[2]
        if content[0] == "place":
            future = Future()
            future.counts = content[3]
            return PLACED(kind=int(owner[0]), who=owner[1]), future
        return follower._sent[owner][1], PlaceHold.Response(number=int(content[3])), owner

    def _outcome(self, process: int, rig: Rig, before: dict, most: int) -> tuple:
        dead: dict[int, set] = {}
        if process == GATE:
            changed = take_gate(rig)
            numbers = {one.number for one in rig.gate._authority.standing.records}
            if rig.due - numbers:
                raise Broken(f"{rig.due - numbers} is lost, and nobody has released it")
        elif process == PAGE:
            changed = (take_page(rig),)
        else:
            changed = (take_selector(rig) if process == SELECTOR else take_base(rig),)
            who = "selector" if process == SELECTOR else "base"
            gone = {
                (int(owner[0]), owner[1])
                for owner, future in before.items()
                if not counts(rig, who, owner, future)
            }
            if gone:
                dead = {SLOT[f"{who}>gate"]: gone, SLOT[f"answer>{who}"]: gone}
        sent, told = [], [bool(rig.channels.get(f"gate>{name}")) for name in NODES[1:]]
        for channel in QUEUES:
            items = rig.channels.get(channel, ())
            if channel == "beat":
                found = [("beat", allowed and goal, N(follows)) for allowed, goal, follows in items]
            elif channel.startswith("answer>"):
                found = [
                    ("answer", int(owner[0]), owner[1], N(response.number))
                    for future, response, owner in items
                    if getattr(future, "counts", False)
                ]
            else:
                found = [content_of(take_request(rig, channel, item)) for item in items]
            if found:
                sent.append((SLOT[channel], [part(one) for one in found]))
        numbers = {n for one in changed for n in one[1]} | {
            n for _, items in sent for one in items for n in one[1]
        }
        fresh = sorted(n for n in numbers if n > most)
        if fresh and process != GATE:
            raise Broken("somebody but the gate gives numbers")
        if process == GATE and fresh and rig.gate._authority.standing.number != fresh[-1]:
            raise Broken("the newest number is not the gate's")
        new = {number: most + place for place, number in enumerate(fresh, 1)} | {
            n: n for n in range(most + 1)
        }
        changed = tuple((one[0], tuple(new[n] for n in one[1])) for one in changed)
        sent = tuple((slot, tuple((i, tuple(new[n] for n in ns)) for i, ns in items)) for slot, items in sent)
        tells = tuple(told) if any(told) else None
        return changed, sent, dead, tells, rig.informed, tuple(sorted(rig.answered)), len(fresh)


#: The process that an event changes.
EVENTS = {
    "base hold": BASE, "base killed": BASE, "hold on": SELECTOR, "hold off": SELECTOR, "pause on": SELECTOR,
    "pause off": SELECTOR, "STOP": PAGE, "Resume": PAGE, "directive": SELECTOR, "cancel": SELECTOR,
    "gate killed": GATE, "selector killed": SELECTOR, "silence": GATE, "clock jump": SELECTOR,
}  # fmt: skip


def _process(name: str) -> int:
    if name in ("work", "beat", "selector asks again", "<gate>selector", "<answer>selector"):
        return SELECTOR
    if name in ("base asks again", "<gate>base", "<answer>base"):
        return BASE
    return PAGE if name == "<gate>console" else GATE


#: Of each step: the process that it changes, the slot of the queue that it takes from or 0, and the number of the
#: process that hears the gate's word or -1.
HEARINGS = tuple(f"<gate>{name}" for name in NODES[1:])
ARRIVALS = tuple((SLOT[name], f"<{name}") for name in QUEUES)
PLANS = {
    name: (EVENTS[name] if name in EVENTS else _process(name), SLOT.get(name[1:], 0), -1)
    for name in (
        *EVENTS,
        *(name for _, name in ARRIVALS),
        "work",
        "beat",
        "selector asks again",
        "base asks again",
    )
} | {name: (_process(name), 0, place) for place, name in enumerate(HEARINGS)}


def check(state: Any) -> None:
    """Raise Broken if a velocity leaves that must not."""
    if not state[INFORMED] or not shape_of(state, GATE)[0]:
        return
    if any(name.startswith("selector") for name in state[ANSWERED]):
        raise Broken("a velocity leaves though goal_selector has acknowledged a hold")
    goal, news, *_ = shape_of(state, SELECTOR)[0]
    if not news and not goal:
        raise Broken("a velocity leaves without a goal under way")


def check_rest(state: State) -> None:
    """Raise Broken if somebody does not follow the gate though no message is on its way."""
    word = content_of(VALUES[state[WORD]])
    flags, loop, *_, holds = content_of(VALUES[state[SELECTOR]])
    kinds = {kind for kind, _, _ in word[2]}
    others = content_of(VALUES[state[BASE]])[1][0], content_of(VALUES[state[PAGE]])[1]
    if holds[0] != word or others != (word, word[2]):
        raise Broken("somebody does not follow the gate")
    if (loop[1], loop[2]) != (Kind.HOLD in kinds, Kind.PAUSE in kinds):
        raise Broken("the loop does what does not stand")
    if shape_of(state, GATE)[0] != (flags[0] and not word[2]):
        raise Broken("the gate passes other than the loop goes")
