"""Camera views that entered the map, for an expert that records them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lodestar.geometry.camera import PinholeCamera
from lodestar.timing.stamps import Phased
from lodestar_interfaces import msg
from lodestar_ros import qos
from lodestar_ros.conversions import stamp_from_msg
from lodestar_ros.conversions_scene import look_from_msg
from lodestar_ros.expert_server import ExpertServer
from lodestar_ros.node import LodestarNode
from lodestar_ros.workers import LatestWorker


class CameraLooks:
    """Passes looks of the camera to an expert on a worker, one per `period` seconds of stamps.

    add_view: adds a view to the expert of the robot's floor; not called while the robot is between two floors.
    Subscribes: ``looks``.
    """

    def __init__(
        self,
        node: LodestarNode,
        server: ExpertServer,
        add_view: Callable[[np.ndarray, PinholeCamera, float], None],
        period: float,
    ) -> None:
        self._server, self._add_view = server, add_view
        self._due = node.timed(Phased(period))
        self._views: LatestWorker = LatestWorker("views", self._look, node.diagnostics.error)
        node.on_close(self._views.close)
        node.listen(msg.Look, "looks", self._on_look, qos.EVENT, stamped=True)

    def _on_look(self, message: msg.Look) -> None:
        if self._due.due(stamp_from_msg(message.header.stamp)):
            self._views.submit(message)

    def _look(self, message: msg.Look) -> None:
        """Pass a look to the expert. Runs on the worker."""
        look = look_from_msg(message)
        with self._server.lock:
            if self._server.update():
                self._add_view(look.map_from_camera, look.camera, look.stamp)
