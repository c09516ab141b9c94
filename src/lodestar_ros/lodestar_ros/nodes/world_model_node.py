"""ROS shell around `WorldModel` and `TraceValidator`: keeps the journal, and applies the effects of actions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lodestar.assembly import parts
from lodestar.assembly.config import WorldModelConfig
from lodestar.grid.occupancy import OccupancyGrid2D
from lodestar.storage.checkpoint import CheckpointConfig
from lodestar.storage.journal_file import JournalFile
from lodestar.storage.private import UnsafeFolder
from lodestar.worldmodel.amendments import ClosedWay
from lodestar.worldmodel.corrections import Surroundings
from lodestar.worldmodel.events import WorldEvent
from lodestar.worldmodel.skills import BadSkills
from lodestar.worldmodel.transactions import Line, journal_of_run
from lodestar.worldmodel.validation import TraceValidator
from lodestar.worldmodel.way_file import way_part
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.conversions_world import event_to_msg, outcome_from_msg, trace_from_msg, ways_to_msg
from lodestar_ros.executors import main_of
from lodestar_ros.map_actions import PartServer, put_on
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError, declare_config, declare_part
from lodestar_ros.pose_graph_input import PoseGraphInput
from lodestar_ros.remote_scene import RemoteScene
from lodestar_ros.validation_server import ValidationServer
from lodestar_ros.workers import QueueWorker
from lodestar_ros.world_desk import CorrectionDesk, DiagnosisDesk, SceneNotHeard
from lodestar_ros.world_facts import WorldFacts

WORLD_MODEL_FACING = 4.0  # m within which "that" and "this door" are faced; chosen: a room's width
WORLD_MODEL_PATIENCE = 2.0  # s of real time that an amendment waits for the scene dictionary; chosen
WORLD_MODEL_TICK_PERIOD = 1.0  # s of real time between two checks of what has expired or waits; chosen


class WorldModelNode(LodestarNode):
    """Records actions as transactions, and amends beliefs. No node waits for it; it never moves the robot.

    Subscribes: ``traces``, ``outcomes``, ``grid``, ``costmap_filter_info``, ``entities``, ``regions``, ``battery``,
    ``mapping/building``, TF. Publishes: ``~/events``, ``~/closed_ways``. Serves: ``~/validate``.
    Actions: ``~/correct``, ``~/diagnose``; ``~/save`` and ``~/load`` of the closed ways. A client of ``amend``.
    """

    def __init__(self, **kwargs):
        super().__init__("world_model", **kwargs)
        PoseGraphInput(self)
        self._config = declare_part(self, WorldModelConfig)
        self._worker: QueueWorker[Callable[[], None]] = QueueWorker(
            "world", self._work, self.diagnostics.error
        )
        self.on_close(self._worker.close)
        self._events = self.create_publisher(msg.WorldEvent, "~/events", qos.HISTORY)
        self._closed_ways = self.create_publisher(msg.ClosedWayArray, "~/closed_ways", qos.LATCHED)
        self._told: tuple[ClosedWay, ...] | None = None
        self._facts = WorldFacts(self, self._on_grid)
        journal = self._journal(declare_config(self, CheckpointConfig, "checkpoint."))
        writer = RemoteScene(self, self._worker.submit, WORLD_MODEL_PATIENCE)
        try:
            self._world = parts.world_model(
                self._config, writer, self._tell, self._facts.scene.mirror, journal
            )
        except BadSkills as error:
            raise ParameterError(f"skills_file: {error}") from error
        self._diagnosis = DiagnosisDesk(self)
        CorrectionDesk(self, self._world, self._worker.submit, self._around, WORLD_MODEL_PATIENCE)
        ValidationServer(
            self,
            TraceValidator(self._facts, self._config.validation, self._world.skills),
            lambda: self._facts.scene.is_filled,
        )
        self.listen(msg.ReasoningTrace, "traces", self._on_trace, qos.HISTORY)
        self.listen(msg.TraceOutcome, "outcomes", self._on_outcome, qos.HISTORY)
        self._say_problems()
        put_ways = put_on(self._worker.submit, self._use_ways, self.get_name())
        PartServer(self, way_part(lambda: self._world.ways, put_ways, lambda: self.now))
        self.steady_timer(WORLD_MODEL_TICK_PERIOD, lambda: self._worker.submit(self._tick))

    def _journal(self, config: CheckpointConfig) -> JournalFile[Line] | None:
        """Return the journal in the run's folder; None without a folder, and then nothing survives the process."""
        checkpoints = Checkpointer(self, config)
        if not (config.folder and config.run):
            return None
        try:
            journal = journal_of_run(Path(config.folder))
        except (OSError, UnsafeFolder) as error:
            raise ParameterError(f"checkpoint.folder: {error}") from error
        self.on_close(journal.close)
        checkpoints.say_back(f"with {len(journal.lines)} lines of its journal", restored=True)
        return journal

    def _say_problems(self) -> None:
        transactions = self._world.transactions
        problems = transactions.problems
        for problem in problems:
            self.get_logger().warning(problem)
        self.diagnostics.value("journal.problems", lambda: "; ".join(problems) or "none")
        self.diagnostics.value("entries", lambda: len(transactions.entries))
        self.diagnostics.value("waiting", lambda: len(transactions.waiting))
        self.diagnostics.value("staged", lambda: len(transactions.staged))
        self.diagnostics.value("closed_ways", lambda: len(self._told or ()))
        self.diagnostics.status("ready")

    def _use_ways(self, ways: tuple[ClosedWay, ...]) -> Callable[[], None]:
        """Put the closed ways of a loaded map into use and return the undo function. Runs on the worker."""
        return self._world.replace_ways(ways, self.now)

    def _on_trace(self, message: msg.ReasoningTrace) -> None:
        trace = trace_from_msg(message)
        self._worker.submit(lambda: self._world.take_trace(trace))

    def _on_outcome(self, message: msg.TraceOutcome) -> None:
        outcome = outcome_from_msg(message)
        self._diagnosis.take(outcome)
        self._worker.submit(lambda: self._world.take_outcome(outcome))

    def _on_grid(self, grid: OccupancyGrid2D) -> None:
        if self._told:
            pose, building = self._facts.pose, self._facts.building
            self._worker.submit(lambda: self._world.take_grid(grid, pose, building))

    def _around(self) -> Surroundings:
        """Return the data that corrections refer to. Runs on the world model's worker; raises SceneNotHeard."""
        facts = self._facts
        if not facts.scene.is_filled:
            raise SceneNotHeard
        things = list(facts.scene.mirror.entities.values())
        nearest, reach = self._world.nearest_way, WORLD_MODEL_FACING
        return Surroundings(things, facts.pose, facts.plan, nearest, self.now, reach, facts.building)

    def _tick(self) -> None:
        correction = self._facts.correction
        if correction is not None:
            self._world.take_correction(*correction, self.now)
        self._world.tick(self.now)

    def _work(self, work: Callable[[], None]) -> None:
        """Run a function, then publish the closed ways if they have changed. Runs on the worker, in order of
        arrival.
        """
        self._world.building = self._facts.building
        try:
            work()
        finally:
            if self._world.ways != self._told:
                self._told = self._world.ways
                self._closed_ways.publish(ways_to_msg(self._told, self.now))

    def _tell(self, event: WorldEvent) -> None:
        self._events.publish(event_to_msg(event))


main = main_of(WorldModelNode)
