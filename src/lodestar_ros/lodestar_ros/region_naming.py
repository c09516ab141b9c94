"""The service by which operators name rooms."""

from __future__ import annotations

from collections.abc import Callable

from lodestar.scene.dictionary import SceneDictionary
from lodestar.scene.region_names import BadRegionName, UnknownRegion
from lodestar_interfaces.srv import NameRegion
from lodestar_ros.conversions import point_from_msg
from lodestar_ros.conversions_regions import region_to_msg
from lodestar_ros.node import LodestarNode


class RegionNaming:
    """Serves ``~/name_region``. on_named(): the regions are to be told anew."""

    def __init__(self, node: LodestarNode, scene: SceneDictionary, on_named: Callable[[], None]) -> None:
        self._scene, self._on_named = scene, on_named
        node.create_service(NameRegion, "~/name_region", self._on_request)

    def _on_request(self, request: NameRegion.Request, response: NameRegion.Response) -> NameRegion.Response:
        point = None if request.region else point_from_msg(request.point)
        try:
            named = self._scene.name_region(int(request.region), point, request.label)
        except UnknownRegion as error:
            response.error_code, response.error_msg = NameRegion.Response.UNKNOWN_REGION, str(error)
            return response
        except BadRegionName as error:
            response.error_code, response.error_msg = NameRegion.Response.BAD_LABEL, str(error)
            return response
        response.named = region_to_msg(named)
        self._on_named()
        return response
