"""Fake world with a red chair from a former session, and obstacles on the path to it."""

from __future__ import annotations

from dataclasses import replace

from agent_fakes import TARGET, World, entity, exploring, find, proposal, towards_target

from lodestar.agent.errands.commands import NavigationEvent, NavigationKind, RecordOutcome, RecordTrace, State
from lodestar.scene.records import EntityState
from lodestar.worldmodel.outcomes import Result
from lodestar.worldmodel.records import Trace

NO_PATH = (208, "no way")
NEVER_SEEN = -100.0  # stamp from a former session


def outcomes_of(world: World, *results: Result):
    found = [command.outcome for command in world.of(RecordOutcome)]
    return [one for one in found if not results or one.result in results]


def known_chair_world(**changes) -> World:
    """Return a room with a red chair from a former session, and the robot on its path to it."""
    world = World(answers={"semantic_map": towards_target, "frontier": exploring((2.0, 8.0, 0.0))}, **changes)
    world.mirror.put(replace(TARGET, first_seen=NEVER_SEEN, last_seen=NEVER_SEEN))
    world.targets.scores[7] = 0.9
    world.now = 0.1
    world.loop.on_pose(world.pose, world.now)
    world.loop.start(find(), world.now)
    world.run(until=lambda: world.loop.state is State.NAVIGATING)
    return world


def abort(world: World, code: int, message: str = "the test says so") -> None:
    world.goal = None
    world.loop.on_navigation(NavigationEvent(NavigationKind.ABORTED, code, message))


def block(world: World, x0: float, x1: float, y0: float, y1: float) -> None:
    """Put an obstacle on the grid."""
    grid = world.loop._context.facts.grid
    cells = grid.cells.copy()
    cells[round(y0 * 10) : round(y1 * 10), round(x0 * 10) : round(x1 * 10)] = 100
    world.loop.on_grid(replace(grid, cells=cells))


def archive(world: World, identity: int) -> None:
    known = world.mirror.entities[identity]
    world.mirror.put(replace(known, state=EntityState.ARCHIVED))
    world.targets.scores[identity] = 0.0


def every_action_has_one_end(world: World) -> None:
    traces = [command.trace.id for command in world.of(RecordTrace)]
    final = [one.trace_id for one in outcomes_of(world) if one.is_final]
    assert sorted(final) == sorted(traces) and len(set(final)) == len(final)


def turning(world: World) -> Trace:
    """Put the robot before a second chair, make it turn to the first one's place, and return the trace of the turn."""
    world.sees = False
    world.mirror.put(entity(8, 8.0, 6.5, first_seen=1e9, last_seen=1e9))
    world.targets.scores |= {7: 0.7, 8: 0.95}
    world.answers["semantic_map"] = lambda request: proposal(7.2, 6.5, 0.0, 0.9, 8)
    world.run(until=lambda: world.loop.feedback().expert == "look")
    assert world.loop.state is State.NAVIGATING
    return world.of(RecordTrace)[-1].trace
