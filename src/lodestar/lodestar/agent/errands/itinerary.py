"""The next errand of a directive: its steps in order, each as often as it says, a patrol stop by stop."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lodestar.language.directive import UNTIL_CANCELLED, Directive, Item, Scope, Step, StepKind
from lodestar.models.lexicon import load_lexicon

#: Categories of a place that only its relations tell: "in front of the sofa".
SPOTS = frozenset({"spot", "place", "point", "position"})


def is_spot(item: Item) -> bool:
    """Whether only relations say where it is."""
    lexicon = load_lexicon()
    return bool(item.best) and all(
        (graph.target.category in SPOTS or lexicon.is_generic(graph.target.category))
        and len(graph.variables) > 1
        for graph in item.best
    )


def is_room(item: Item, names: Collection[str]) -> bool:
    """Whether it is a room by the lexicon, or by a word that operators have for one here (`names`)."""
    lexicon = load_lexicon()
    categories = [graph.target.category for graph in item.best]
    return bool(categories) and all(
        lexicon.room(word) is not None or word.casefold() in names for word in categories
    )


def errand_of(step: Step, names: Collection[str]) -> Step:
    """The step as it is done: going to a thing is to find it, an earlier place is gone to. names: of rooms here."""
    if step.kind is StepKind.RETURN and step.item is not None and (step.item.best or step.item.images):
        step = replace(step, kind=StepKind.GO)
    if step.kind is not StepKind.GO or step.pose is not None or step.is_remembered:
        return step
    if step.item is None:
        return replace(step, item=Item(tuple((room,) for room in step.scope.rooms)), scope=Scope())
    if is_room(step.item, names) or is_spot(step.item):
        return step
    return replace(step, kind=StepKind.FIND)


class Itinerary:
    """The errand that is worked on and the way to the next one.

    index: of the step in the directive. errand: what is done for it now; the same object while it is worked on.
    """

    def __init__(self, directive: Directive, names: Collection[str] = ()) -> None:
        self._directive = directive
        self.index = 0
        self._stop = 0  # of a patrol
        self._round = 1  # of the step
        self._lap = 1  # of the directive
        self.errand = self._errand(names)

    @property
    def step(self) -> Step:
        """The step of the directive that the errand is for."""
        return self._directive.steps[self.index]

    @property
    def is_last(self) -> bool:
        """Whether nothing follows."""
        return (
            self._stop + 1 >= len(self.step.stops)
            and not _goes_on(self.step.times, self._round)
            and self.index + 1 >= len(self._directive.steps)
            and not _goes_on(self._directive.times, self._lap)
        )

    @property
    def ends_round(self) -> bool:
        """Whether a patrol has no further stop in this round."""
        return self._stop + 1 >= len(self.step.stops)

    def advance(self, names: Collection[str] = ()) -> None:
        """Go on to the next errand; nothing may follow the last one. names: of rooms, as they are known now."""
        if self._stop + 1 < len(self.step.stops):
            self._stop += 1
        elif _goes_on(self.step.times, self._round):
            self._stop, self._round = 0, self._round + 1
        else:
            self.index, self._stop, self._round = self.index + 1, 0, 1
            if self.index >= len(self._directive.steps):
                self.index, self._lap = 0, self._lap + 1
        self.errand = self._errand(names)

    def follow(self, index: int, errand: Step) -> None:
        """Work on what another robot works on."""
        self.index, self._stop, self._round, self.errand = index, 0, 1, errand

    def visit(self, errand: Step, names: Collection[str] = ()) -> None:
        """Do something else for the step first; `resume` comes back to it."""
        self.errand = errand_of(errand, names)

    def resume(self, names: Collection[str] = ()) -> None:
        """Go on with the step itself."""
        self.errand = self._errand(names)

    def go_to_last(self, names: Collection[str] = ()) -> None:
        """Leave out everything but the last step, which is done once."""
        self.index, self._stop, self._round = len(self._directive.steps) - 1, 0, 1
        self._lap = max(self._directive.times, self._lap)
        self.errand = self._errand(names)

    def _errand(self, names: Collection[str]) -> Step:
        step = self.step
        if step.kind is StepKind.PATROL and step.stops:
            step = Step(StepKind.GO, step.stops[self._stop], scope=step.scope)
        return errand_of(step, names)


def _goes_on(times: int, done: int) -> bool:
    return times == UNTIL_CANCELLED or done < times
