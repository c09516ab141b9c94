"""ROS shell of the operator's interface: directives as text, clicks on the map, and replies."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import PointStamped
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from lodestar_interfaces.action import FollowDirective
from lodestar_ros import qos
from lodestar_ros.conversions import BadMessage, point_from_msg
from lodestar_ros.directive_sender import DirectiveSender, GoalEars, TextEars
from lodestar_ros.executors import main_of
from lodestar_ros.frame_tree import TransformUnavailable
from lodestar_ros.marker_shapes import reply_markers
from lodestar_ros.node import FrameNames, LodestarNode
from lodestar_ros.operator_requests import AskedBack, RequestRefused, ending_in_words, request_of
from lodestar_ros.parameters import declare_config
from lodestar_ros.pointing_client import PointingClient


class OperatorNode(LodestarNode):
    """Accepts directives as text and clicks on the map, from RViz or a terminal. It moves the robot only by directives.

    Subscribes: ``~/directive`` (text), ``clicked_point`` (any frame of TF), ``heartbeat``, TF. Publishes: ``~/reply``
    (every answer in words), ``~/markers`` (the answer to a click, at its place). A client of ``follow_directive``
    while it has a directive, of ``point_out`` and ``correct``.
    """

    def __init__(self, **kwargs):
        super().__init__("operator", **kwargs)
        self._frames = declare_config(self, FrameNames, "frames.")
        self._asked: AskedBack | None = None
        # history: two replies may come at once
        self._replies = self.create_publisher(String, "~/reply", qos.HISTORY)
        self._markers = self.create_publisher(MarkerArray, "~/markers", qos.LATCHED)
        self._transforms = self.transforms(newest=True)
        self._sender = DirectiveSender(self)
        self._ears = GoalEars(
            TextEars(self._say).hear, self._on_result, lambda text: self._say(text, ok=False)
        )
        self._pointing = PointingClient(self, self._reply_to_click, self._answer)
        self.diagnostics.value("directives", lambda: self._sender.active)
        self.diagnostics.status("nothing was said yet")
        self.listen(String, "~/directive", self._on_text, qos.EVENT)
        self.listen(PointStamped, "clicked_point", self._on_click, qos.EVENT)

    def _on_text(self, message: String) -> None:
        try:
            request = request_of(message.data, self._asked)
        except RequestRefused as refusal:
            self._say(str(refusal), ok=False)
            return
        self._asked = None
        self._sender.send(
            FollowDirective.Goal(text=request.text, question_id=request.question_id, choice=request.choice),
            self._ears,
        )

    def _answer(self, question_id: str, choice: int) -> None:
        self._asked = None
        self._sender.send(FollowDirective.Goal(question_id=question_id, choice=choice), self._ears)

    def _on_result(self, result: FollowDirective.Result) -> None:
        if result.question:
            self._asked = AskedBack(result.question_id, tuple(result.choices))
        said = ending_in_words(
            result.report, result.error_code, result.error_msg, result.question, result.choices
        )
        self._say(said or "done", ok=result.error_code == FollowDirective.Result.NONE)

    def _on_click(self, message: PointStamped) -> None:
        point = point_from_msg(message.point)
        if not np.isfinite(point).all():
            self._say("the point is not finite; click on the map or on a thing", ok=False)
            raise BadMessage("a point that is not finite")
        frame = message.header.frame_id.lstrip("/")
        if frame != self._frames.map:
            try:
                map_from_frame = self._transforms.buffer.lookup(self._frames.map, frame)
            except TransformUnavailable as error:
                self._say(f"the click is in {frame!r}, which has no place on the map: {error}; "
                          f"set RViz's fixed frame to {self._frames.map}", ok=False)  # fmt: skip
                raise
            point = map_from_frame[:3, :3] @ point + map_from_frame[:3, 3]
        self._pointing.point(point)

    def _reply_to_click(self, text: str, place: np.ndarray, ok: bool) -> None:
        said = self._say(text, ok=ok)
        self._markers.publish(reply_markers(place, said, self.now, ok=ok))

    def _say(self, text: str, *, ok: bool = True) -> str:
        """Publish, log and add to the diagnostics a reply to the operator; return it as a sentence."""
        said = f"{text[:1].upper()}{text[1:]}"
        said = said if said.endswith((".", "?", "!", ")")) else f"{said}."
        self._replies.publish(String(data=said))
        if ok:
            self.get_logger().info(said)
        else:
            self.get_logger().warning(said)
        self.diagnostics.status(said, ok=ok)
        return said


main = main_of(OperatorNode)
