"""The service by which operators name rooms."""

from __future__ import annotations

from collections.abc import Callable

from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.region_names import BadRegionName, UnknownRegion
from lodestar_interfaces.srv import NameRegion
from lodestar_ros.conversions import point_from_msg
from lodestar_ros.conversions_regions import region_to_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.services import ServiceWorker

CODES: dict[type[Exception], int] = {
    UnknownRegion: NameRegion.Response.UNKNOWN_REGION,
    BadRegionName: NameRegion.Response.BAD_LABEL,
}


class RegionNaming:
    """Serves ``~/name_region`` on its own thread, because a name is saved before it is acknowledged.

    on_named(): called to publish the regions again. keep(): takes a checkpoint; raises OSError.
    """

    def __init__(
        self,
        node: LodestarNode,
        scene: SceneDictionary,
        on_named: Callable[[], None],
        keep: Callable[[], None],
    ) -> None:
        self._node, self._scene, self._on_named, self._keep = node, scene, on_named, keep
        ServiceWorker(node, NameRegion, "~/name_region", self.answer, CODES)

    def answer(self, request: NameRegion.Request, response: NameRegion.Response) -> NameRegion.Response:
        """Name a region and save the name. Runs on the service's thread."""
        point = None if request.region else point_from_msg(request.point)
        named = self._scene.name_region(int(request.region), point, request.label)
        response.named = region_to_msg(named)
        self._on_named()
        try:
            self._keep()
        except OSError as error:  # the next checkpoint tries again
            self._node.diagnostics.error(error)
        return response
