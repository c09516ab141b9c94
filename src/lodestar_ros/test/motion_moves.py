"""The moves of a state: enough orders of steps to check each state that any order leads to.

Steps of different processes commute, unless one gives or takes what the other reads. A silent step changes its own
process and sends nothing: the process hears the gate's word or an answer, or works. It commutes with each step of the
others but for two: a gate that tells replaces its word, and a gate that is killed takes back its answers. So each order
of steps equals one in which the silent steps of a process come directly before a step with which they do not commute:
a step of that process that sends, an event of it, or such a step of the gate. A move is such silent steps and that
step. The states after silent steps alone are checked, but not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from motion_states import (
    ANSWERED,
    BASE,
    EVENTS,
    GATE,
    HEARINGS,
    INFORMED,
    NOTHING,
    PAGE,
    PENDING,
    PLANS,
    SELECTOR,
    SLOT,
    WORD,
    State,
    Table,
    check,
    reranked,
    shape_of,
)  # fmt: skip

#: Of each process but the gate: the slots that its steps read and change.
SLOTS = {
    SELECTOR: (SELECTOR, SLOT["selector>gate"], SLOT["answer>selector"], SLOT["beat"], PENDING, INFORMED, ANSWERED),
    BASE: (BASE, SLOT["base>gate"], SLOT["answer>base"], PENDING, ANSWERED),
    PAGE: (PAGE, SLOT["console>gate"], PENDING, ANSWERED),
}  # fmt: skip
ASKS = tuple((SLOT[name], f"<{name}") for name in ("selector>gate", "base>gate", "console>gate"))
Way = tuple[tuple[str, ...], State]  # steps, and the state that they lead to


class Moves:
    """Moves over a table. kinds: the events that may come."""

    def __init__(self, table: Table, kinds: Iterable[str] = EVENTS) -> None:
        self.table, self.kinds = table, tuple(kinds)
        self._known: dict[tuple, tuple[list, list]] = {}
        self._heard: dict[tuple, int] = {}

    def of(self, state: State, events: bool) -> Iterator[Way]:
        """Yield the steps of each move and the state after it, with or without events. Raises Broken."""
        quiet = []
        for party, slots in SLOTS.items():
            silent, moves = self._of_party(state, party, events)
            quiet.append((slots, silent))
            if party == SELECTOR and state[INFORMED]:
                for _, values in silent:
                    check(_patched(state, slots, values))
            for steps, values in moves:
                yield steps, reranked(_patched(state, slots, values))
        alone = ["<beat"] if state[SLOT["beat"]] != NOTHING else []
        for name in alone + ["silence"] * (events and "silence" in self.kinds):
            assert not self.table.tells(state, name), f"the gate tells something after {name!r}"
            yield (name,), self.table.after(state, name)
        asks = [name for slot, name in ASKS if state[slot] != NOTHING]
        if asks:
            for steps, earlier in _products(state, quiet, "<gate>"):
                for name in asks:
                    yield (*steps, name), self.table.after(earlier, name)
        if events and "gate killed" in self.kinds:
            for steps, earlier in _products(state, quiet, "<"):
                yield (*steps, "gate killed"), self.table.after(earlier, "gate killed")

    def _of_party(self, state: State, party: int, events: bool) -> tuple[list, list]:
        """Return silent steps of a process, and its moves, each with the values of its slots afterwards."""
        fresh = party != SELECTOR or shape_of(state, GATE)[1]
        key = party, events, fresh, state[WORD], *[state[slot] for slot in SLOTS[party]]
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._found_of(list(state), party, events)
        return found

    def _found_of(self, state: list, party: int, events: bool) -> tuple[list, list]:
        silent, moves, todo = [], [], [((), state)]
        own = [name for name in self.kinds if EVENTS[name] == party] if events else []
        while todo:
            steps, earlier = todo.pop()
            names = [name for name in self.table.names(earlier, False) if PLANS[name][0] == party]
            for name in names + own:
                after = self.table.changed(earlier, name)
                found = (*steps, name), [after[slot] for slot in SLOTS[party]]
                if name in EVENTS or self.table.sends(earlier, name):
                    moves.append(found)
                else:
                    silent.append(found)
                    todo.append((found[0], after))
        return silent, moves

    def rest(self, state: State) -> State | None:
        """Return the state in which nothing more comes by itself, if only words of the gate are on their way."""
        if any(state[slot] != NOTHING for slot in SLOT.values()):
            return None
        for name, waits in zip(HEARINGS, state[PENDING]):
            if waits and self.table.sends(state, name):
                return None
            state = self.table.after(state, name) if waits else state
        names = self.table.names(state, False)
        return None if any(self.table.after(state, name) != state for name in names) else state

    def settled(self, state: State) -> State:
        """Return a state, after its last event, in which the page and a base that asks nothing have heard the gate.

        Nobody reads what they know, they send nothing, and they know the newest word alone, which is asserted.
        """
        told = state[PENDING]
        for party, place in ((PAGE, 2), (BASE, 0)):
            if told[place] and (party == PAGE or _asks_nothing(state)):
                name = HEARINGS[place]
                assert not self.table.sends(state, name), f"{name!r} sends something"
                heard = self.table.changed(state, name)
                newest = self._heard.setdefault((name, state[WORD]), heard[party])
                assert newest == heard[party], f"{name!r} depends on earlier words"
                state = reranked(heard)
        return state


def _asks_nothing(state: State) -> bool:
    """Return whether the base has no request that the gate's word does not tell yet."""
    return (
        not shape_of(state, BASE)[1][1]
        and state[SLOT["answer>base"]] == NOTHING
        and not any(name.startswith("base") for name in state[ANSWERED])
    )


def _patched(state: State, slots: tuple[int, ...], values: list) -> list:
    found = list(state)
    for slot, value in zip(slots, values):
        found[slot] = value
    return found


def _products(state: State, quiet: list, ends: str) -> list[tuple[tuple[str, ...], list]]:
    """Return the states after silent steps of several processes, of each none or such that end so."""
    found = [((), list(state))]
    for slots, silent in quiet:
        for steps, values in silent:
            if steps[-1].startswith(ends):
                more = []
                for before, earlier in found:
                    if not before or PLANS[before[-1]][0] != PLANS[steps[-1]][0]:
                        after = _patched(earlier, slots, values)
                        after[PENDING] = tuple(a and b for a, b in zip(earlier[PENDING], after[PENDING]))
                        more.append(((*before, *steps), after))
                found += more
    return found
