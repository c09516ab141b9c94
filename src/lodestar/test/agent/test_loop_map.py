"""Tests of the loop with an old grid."""

from __future__ import annotations

from agent_fakes import World, find, proposal

from lodestar.agent.facts.config import LoopConfig
from lodestar.agent.facts.errors import ErrorCode


def explorer(request):
    """Return a proposal; this explorer always has another goal."""
    side = 2.0 + 5.0 * (request.epoch % 2)
    return proposal(side, 8.0, 0.0)


def test_a_grid_that_is_never_renewed_ends_the_directive():
    """The mapping node is gone, so new obstacles are missing from the grid."""
    world = World(answers={"frontier": explorer}, maps=False)
    world.loop.start(find(), 0.0)
    world.run(60.0)
    assert world.result.error_code is ErrorCode.NO_MAP
    assert "mapping" in world.result.report and not world.loop.motion_allowed
    assert 15.0 < world.now < 16.0


def test_the_patience_begins_with_the_directive_and_with_each_grid():
    world = World(answers={"frontier": explorer}, maps=False)
    world.loop.start(find(), 100.0)
    world.now = 100.0
    world.run(10.0)
    world.loop.on_grid(world.loop._context.facts.grid)
    world.run(10.0)
    assert world.result is None


def test_a_map_that_is_given_once_and_for_ever_may_be_said_so():
    world = World(LoopConfig(grid_patience=0.0), answers={"frontier": explorer}, maps=False)
    world.loop.start(find(), 0.0)
    world.run(60.0)
    assert world.result.error_code is not ErrorCode.NO_MAP
    assert world.now > 16.0
