"""The service by which the world model amends the scene: the only way to change it besides perception."""

from __future__ import annotations

from collections.abc import Callable

from lodestar.assembly.scene_chain import SceneChain
from lodestar.scene.amendments import AmendmentRefused
from lodestar.scene.records import SceneDelta
from lodestar_interfaces.srv import AmendScene
from lodestar_ros.conversions import BadMessage
from lodestar_ros.conversions_world import amendment_to_msg, amendments_from_msg
from lodestar_ros.node import LodestarNode
from lodestar_ros.services import ServiceWorker
from lodestar_ros.workers import Refused


class SceneAmending:
    """Serves ``~/amend`` on the worker that publishes the scene's changes, so that changes are published in order.

    The journal is written before the answer, because perception cannot restore an amendment.
    keep(): requests a checkpoint.
    """

    def __init__(
        self,
        node: LodestarNode,
        chain: SceneChain,
        submit: Callable[[Callable[[], None]], None],
        publish: Callable[[SceneDelta], None],
        keep: Callable[[], None],
    ) -> None:
        self._chain, self._publish, self._keep = chain, publish, keep
        errors: dict[type[Exception], int] = {BadMessage: AmendScene.Response.BAD_REQUEST}
        ServiceWorker(node, AmendScene, "~/amend", self._answer, errors, submit)

    def _answer(self, request: AmendScene.Request, response: AmendScene.Response) -> AmendScene.Response:
        """Apply the amendments, publish the change and return the inverse. Runs on the worker; raises Refused."""
        try:
            made = self._chain.amend(amendments_from_msg(request.amendments), int(request.expected_revision))
        except AmendmentRefused as refused:
            raise Refused(refused.refusal.value, str(refused)) from refused
        self._publish(made.delta)
        self._keep()
        response.revision = made.delta.revision
        response.inverse = [amendment_to_msg(amendment) for amendment in made.inverse]
        return response
