"""World model: receives actions and their outcomes, and applies all amendments of beliefs in one method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from lodestar.floors.records import NO_FLOORS, UNKNOWN, Building
from lodestar.geometry.corrections import Anchor
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.scene.records import Entity, Refusal
from lodestar.worldmodel.amendment_checks import MalformedAmendment, check_amendment
from lodestar.worldmodel.amendment_words import amendment_in_words
from lodestar.worldmodel.amendments import OF_WAYS, Amendment, Change, ClosedWay, middle_of
from lodestar.worldmodel.closed_ways import WayBook
from lodestar.worldmodel.events import DIAGNOSED, REFUSED, UNDONE, WorldEvent
from lodestar.worldmodel.hypotheses import AUTHOR, CAPTION, captioned, measure_of, stated, verified
from lodestar.worldmodel.outcomes import ActionOutcome, Result
from lodestar.worldmodel.records import Action, Trace, entity_of, said
from lodestar.worldmodel.skills import SkillTable, load_skills
from lodestar.worldmodel.trace_sentences import Names, nameless
from lodestar.worldmodel.transactions import Entry, Transactions, default_inverse


@dataclass(frozen=True)
class Reply:
    """Reply to amendments of the scene.

    problem: None = applied; then `inverse` holds the amendments that undo them.
    """

    inverse: tuple[Amendment, ...] = ()
    problem: Refusal | None = None
    why: str = ""


class SceneWriter(Protocol):
    """Interface to the scene dictionary's `amend`; all amendments are applied, or none."""

    def amend(self, amendments: Sequence[Amendment], answered: Callable[[Reply], None]) -> None:
        """Apply the amendments; call `answered` once, now or later."""


class SceneView(Protocol):
    """Interface to the current scene. Implementations return it without copying."""

    @property
    def entities(self) -> Mapping[int, Entity]:
        """Return the entities by id, including archived ones."""

    def get(self, identity: int) -> Entity | None:
        """Return the entity with this id, or the one it was merged into; None if there is none."""


Told = Callable[[Entry, Reply], None]
OF_MAP = "map"  # author of amendments from a loaded map


class WorldModel:
    """Stages actions, applies amendments of their outcomes and of operators, and publishes events.

    For one thread. tell: receives every event. names: entity id -> name. scene: current scene; None =
    relations are not measured. Invalid content of an outcome is refused and raises nothing.
    """

    def __init__(
        self,
        transactions: Transactions,
        writer: SceneWriter,
        tell: Callable[[WorldEvent], None] = lambda event: None,
        ways: WayBook | None = None,
        names: Names = nameless,
        skills: SkillTable | None = None,
        scene: SceneView | None = None,
    ) -> None:
        self.transactions, self._writer, self._tell = transactions, writer, tell
        self._ways, self._names = ways or WayBook(), names
        self.skills = skills or load_skills()
        self._under_way: set[int] = set()  # numbers of entries with a pending reply
        self._scene = scene
        self._anchor = Anchor()
        self.building = Building()  # set by its owner; new ways lie on the robot's floor
        self.now = 0.0
        for entry in transactions.entries.values():  # close the same ways after a restart
            if entry.inverse:
                self._change_ways(entry.amendments)
        # Until the first tick: ways that expire then were already reported by the earlier process.
        self._inherited = set(self._ways.ways)

    @property
    def floor(self) -> int:
        """Return the id of the robot's floor."""
        return self.building.active

    @property
    def ways(self) -> tuple[ClosedWay, ...]:
        """Return the closed ways."""
        return self._ways.ways

    def nearest_way(self, point: np.ndarray, reach: float) -> ClosedWay | None:
        """Return the closed way nearest to a point (2,) in map, None if none is within `reach` metres."""
        return self._ways.nearest(point, reach, self.building)

    def _placed(self, amendment: Amendment) -> tuple[Amendment, ...]:
        """Return the amendment with a floor for its closed way, if it has none: the robot's floor.

        An OPEN_WAY becomes one amendment for each floor on which a way is closed in this place: for the
        robot's floor and ways of all floors, or, if there are none, for every other floor.
        """
        way = amendment.way
        if way is None or way.floor != UNKNOWN:
            return (amendment,)
        floors = {self.floor}
        if amendment.change is Change.OPEN_WAY:
            every = {one.floor for one in self._ways.in_place(way)}
            floors = every & {UNKNOWN, self.floor} or every or {UNKNOWN}
        return tuple(replace(amendment, way=replace(way, floor=floor)) for floor in sorted(floors))

    # --- actions ----------------------------------------------------------------------------------------------

    def take_trace(self, trace: Trace) -> None:
        """Stage an action that begins; no belief changes."""
        self.transactions.begin(trace.id, trace.stamp, trace.action)

    def take_outcome(self, outcome: ActionOutcome) -> None:
        """End an action, unless another observation follows.

        A committed action has its effects and the amendments of its diagnosis applied, a rolled back one only
        the latter, and a cancelled one nothing.
        """
        self.now = max(self.now, outcome.stamp)
        if not outcome.is_final:
            return
        staged = self.transactions.staged.get(outcome.trace_id)
        amendments = outcome.amendments
        if outcome.result is Result.COMMITTED and staged is not None:
            amendments = (*self._effects(outcome, staged.action), *amendments)
        if outcome.result is Result.CANCELLED or not amendments:
            ended = self.transactions.end(outcome.trace_id)
        else:
            ended = outcome.trace_id not in self.transactions.ended
            if ended:
                named = tuple(
                    replace(one, trace_id=one.trace_id or outcome.trace_id)
                    for amendment in amendments
                    for one in self._placed(amendment)
                )
                self._carry_out(self.transactions.open(outcome.stamp, named, outcome.trace_id))
        if ended and outcome.diagnosis is not None and outcome.text:
            look_at = outcome.diagnosis.look_at
            self._tell(
                WorldEvent(outcome.stamp, DIAGNOSED, outcome.text, (), outcome.trace_id, place=look_at)
            )
        if ended:
            self._verify_relations(() if staged is None else staged.action.arguments)

    def _effects(self, outcome: ActionOutcome, action: Action) -> tuple[Amendment, ...]:
        """Return the effects of an action reported as successful; () if the geometry contradicts the success."""
        for belief in self.skills.confirmed(action):
            measure = None if self._scene is None else measure_of(belief, self._scene.get)
            if measure is not None and measure.holds == belief.negated:
                apart = f"{said(belief)}: {measure.value:.1f} m, at most {measure.limit:.1f} m"
                text = f"Nothing was changed: {action} was told to be done, but it is not so that {apart}"
                self._tell(WorldEvent(outcome.stamp, REFUSED, text, (), outcome.trace_id))
                return ()
        return self.skills.effects(action, outcome.trace_id)

    def _verify_relations(self, names: Sequence[str]) -> None:
        """Check stated relations against the geometry at the end of an action.

        Those that are wrong, or measured for the first time, are amended. names: entities whose captions are
        also checked for relations.
        """
        scene = self._scene
        if scene is None:
            return
        statements = stated(self.transactions.entries.values())
        known = {(s.belief.predicate, s.belief.arguments) for s in statements if s.belief is not None}
        for identity in map(entity_of, names):
            thing = None if identity is None else scene.get(identity)
            belief = None if thing is None else captioned(thing, list(scene.entities.values()))
            if belief is not None and (belief.predicate, belief.arguments) not in known:
                statements.append(Amendment(Change.RELATE, "its caption says so", CAPTION, belief=belief))
        found = verified(statements, scene.get)
        if found:
            self._carry_out(self.transactions.open(self.now, found))

    # --- operators --------------------------------------------------------------------------------------------

    def correct(self, amendments: Sequence[Amendment], stamp: float, told: Told) -> None:
        """Apply an operator's amendments; `told` receives the entry and the reply. Raises MalformedAmendment.

        If the scene is unavailable they are refused, not retried. A malformed amendment writes nothing.
        """
        for amendment in amendments:
            check_amendment(amendment, drawn=True)
        amendments = [one for amendment in amendments for one in self._placed(amendment)]
        for amendment in amendments:
            self._check_way(amendment)
        self._carry_out(self.transactions.open(stamp, amendments), told)

    def _check_way(self, amendment: Amendment) -> None:
        """Raise MalformedAmendment if a way to open is not closed, or if too many ways are closed already."""
        way, change = amendment.way, amendment.change
        if way is None:
            return
        what = "area" if way.area else "way"
        if change is Change.OPEN_WAY and all(one.floor != way.floor for one in self._ways.in_place(way)):
            raise MalformedAmendment(
                f"no {what} like this is closed: it was opened, or the map has moved; look where it lies now"
            )
        if change is Change.CLOSE_WAY and not self._ways.has_room(way):
            raise MalformedAmendment(
                f"too many areas and ways are closed already; open one before this {what}"
            )

    def undo(self, number: int, stamp: float, told: Told) -> None:
        """Undo an entry; `told` receives the new entry and the reply.

        Raises NoSuchEntry, AlreadyUndone, Overtaken.
        """
        self._carry_out(self.transactions.undo(number, stamp), told)

    # --- time and grids -------------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Open closed ways that expired by `now`, seconds; retry entries that the scene did not take yet."""
        self.now = max(self.now, now)
        for way in self._ways.expire(now):
            if way in self._inherited:
                continue
            place = middle_of(way)
            what = "area" if way.area else "way"
            text = f"The {what} at ({place[0]:.1f}, {place[1]:.1f}) counts as open again: its time is over."
            self._tell(WorldEvent(self.now, Change.OPEN_WAY.value, text, place=place))
        if now > 0.0:  # at 0 a simulated clock has not started
            self._inherited.clear()
        for entry in self.transactions.waiting:
            if entry.number not in self._under_way:
                self._carry_out(entry)

    def take_grid(
        self, grid: OccupancyGrid2D, robot: np.ndarray | None, building: Building = NO_FLOORS
    ) -> None:
        """Open the closed ways that the grid of the robot's floor shows as open.

        robot: (2+,) in map, None = unknown.
        """
        for way in self._ways.look(grid, robot, building):
            amendment = Amendment(Change.OPEN_WAY, "rays pass through it", AUTHOR, way=way)
            self._carry_out(self.transactions.open(self.now, (amendment,)))

    def take_correction(
        self, map_from_odom: np.ndarray, odom_from_base: np.ndarray, stamp: float | None = None
    ) -> None:
        """Move each closed way with its part of the map after a jump of map <- odom. Transforms: (4, 4)."""
        with self._anchor.correction(map_from_odom, odom_from_base, stamp) as correction:
            if correction is not None:
                self.transactions.move(correction)
                self._ways.move(correction)

    def replace_ways(self, ways: Iterable[ClosedWay], stamp: float) -> Callable[[], None]:
        """Replace all closed ways by those of a loaded map. Returns an undo function.

        The replacement is an ordinary entry: it is repeated after a restart, and operators can undo it.
        """
        opened = [Amendment(Change.OPEN_WAY, "another map was loaded", OF_MAP, way=way) for way in self.ways]
        closed = [
            Amendment(Change.CLOSE_WAY, "it is closed on the loaded map", OF_MAP, way=way) for way in ways
        ]
        if not opened and not closed:
            return lambda: None
        entry = self.transactions.open(stamp, (*opened, *closed))
        self._carry_out(entry)
        return lambda: self._carry_out(self.transactions.undo(entry.number, stamp))

    # --- the write path ---------------------------------------------------------------------------------------

    def _carry_out(self, entry: Entry, told: Told | None = None) -> None:
        """Apply an entry: amend the scene, then the closed ways.

        If an amendment is refused or malformed, change nothing. told: receives the entry and the reply; an
        entry with `told` is not retried.
        """
        try:
            for amendment in entry.amendments:
                check_amendment(amendment)
            # with the names before the change
            words = tuple(amendment_in_words(a, self._names) for a in entry.amendments)
        except (LookupError, TypeError, ValueError) as error:  # would recur with every tick
            reply = Reply(problem=Refusal.BAD_REQUEST, why=str(error))
            made = self._close(entry, reply, ())
            if told is not None:
                told(made, reply)
            return
        of_scene = [a for a in entry.amendments if a.change not in OF_WAYS]

        def answered(reply: Reply) -> None:
            self._under_way.discard(entry.number)
            if reply.problem is Refusal.UNAVAILABLE and told is None:
                return  # retried by `tick`
            made = self._close(entry, reply, words)
            if told is not None:
                told(made, reply)

        self._under_way.add(entry.number)
        if of_scene:
            self._writer.amend(of_scene, answered)
        else:
            answered(Reply())

    def _close(self, entry: Entry, reply: Reply, words: tuple[str, ...]) -> Entry:
        entry = self.transactions.entries.get(entry.number, entry)  # the map may have moved since
        if reply.problem is not None:
            made = self.transactions.refused(entry, reply.why)
            text = f"Nothing was changed: {reply.why}"
            self._tell(WorldEvent(self.now, REFUSED, text, (), entry.trace_id, entry.number))
            return made
        inverse = (*self._change_ways(entry.amendments), *reply.inverse)
        if entry.replayed and not reply.inverse:  # applied before the earlier process died
            of_scene = [a for a in entry.amendments if a.change not in OF_WAYS]
            inverse = (*inverse, *default_inverse(of_scene))
        made = self.transactions.done(entry, inverse, words)
        for amendment, sentence in zip(entry.amendments, words, strict=True):
            self._tell(self._event(made, amendment, sentence))
        return made

    def _change_ways(self, amendments: Sequence[Amendment]) -> tuple[Amendment, ...]:
        """Close and open the ways of these amendments. Return the amendments that undo this."""
        inverse: list[Amendment] = []
        for amendment in amendments:
            way = amendment.way
            if amendment.change not in OF_WAYS or way is None:
                continue
            back = replace(amendment, reason=f"taken back: {amendment.reason}")
            closes = amendment.change is Change.CLOSE_WAY
            before = self._ways.close(way) if closes else self._ways.open(way)
            opened = [replace(back, change=Change.OPEN_WAY)] if closes else []
            closed = [replace(back, change=Change.CLOSE_WAY, way=other) for other in before]
            inverse = [*opened, *closed, *inverse]
        return tuple(inverse)

    def _event(self, entry: Entry, amendment: Amendment, said: str) -> WorldEvent:
        ids = (amendment.entity_id,) if amendment.entity_id else ()
        kind = UNDONE if entry.undoes else amendment.change.value
        text = f"Entry {entry.undoes} was taken back: {said}" if entry.undoes else said
        place = _place_of(amendment)
        return WorldEvent(max(self.now, entry.stamp), kind, text, ids, entry.trace_id, entry.number, place)


def _place_of(amendment: Amendment) -> tuple[float, float] | None:
    return None if amendment.way is None else middle_of(amendment.way)
