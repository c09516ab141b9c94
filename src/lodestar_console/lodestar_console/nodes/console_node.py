"""ROS shell around the console: page in the browser, and tools for agents."""

from __future__ import annotations

from lodestar.storage.private import UnsafeFolder
from lodestar_console.access.places import ServeError
from lodestar_console.board.board import Board
from lodestar_console.intake.calls import Caller
from lodestar_console.intake.directives import DirectiveDesk
from lodestar_console.intake.health import HealthWatch
from lodestar_console.intake.map_state import MapState
from lodestar_console.intake.orders import RosStack
from lodestar_console.intake.robot_state import RobotState
from lodestar_console.intake.story import Story
from lodestar_console.intake.views import Views
from lodestar_console.intake.worker import KeyedWorker
from lodestar_console.web.console import Console, ConsoleConfig
from lodestar_ros.executors import main_of
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.parameters import ParameterError, declare, declare_config

CHECK_PERIOD = 1.0  # s between two checks of the web server


class ConsoleNode(LodestarNode):
    """Show the stack in browsers, and carry out permitted requests of people and agents.

    For topics, services and actions see the classes of `intake`. No other node depends on this one.
    """

    def __init__(self, **kwargs):
        super().__init__("console", **kwargs)
        frames = declare_config(self, FrameNames, "frames.")
        config = declare_config(self, ConsoleConfig)
        awaited = declare(self, "await_nodes", tuple[str, ...], ())
        name = declare(self, "robot_name", str, "")
        board = Board(name or self.get_namespace().strip("/") or "robot", lambda: self.now)
        worker = KeyedWorker("console", self.diagnostics.error)
        self.on_close(worker.close)
        health = HealthWatch(self, board, worker, awaited)
        robot = RobotState(self, board, frames, health.silent)
        MapState(self, board, worker)
        Story(self, board, worker)
        caller = Caller(self)
        desk = DirectiveDesk(self, board, caller)
        stack = RosStack(self, board, caller, desk, Views(self, board, worker, robot), robot)
        try:
            self._console = Console(board, stack, config)
        except (ServeError, UnsafeFolder, OSError) as error:
            raise ParameterError(str(error)) from error
        self.on_close(self._console.close)
        self.steady_timer(CHECK_PERIOD, self._check)
        self.diagnostics.value("address", lambda: self._console.address)
        self.diagnostics.value("pages", lambda: sum(self._console.hub.sockets.values()))
        self.diagnostics.value("work.waiting", lambda: worker.waiting)
        self.diagnostics.value("cloud.voxels", lambda: len(board.cloud))
        self.get_logger().info(f"{self._console.address}; for a link: python -m lodestar_console.link")
        self.diagnostics.status(f"serves at {self._console.address}")

    def _check(self) -> None:
        if not self._console.is_alive:
            self.refusal = self.refusal or "the web server has ended; the starter begins it anew"


main = main_of(ConsoleNode)
