"""Asynchronous client of an action for the decision loop: one goal at a time, identified by a number
(ticket).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from rclpy.action import ActionClient
from rclpy.node import Node

from lodestar_ros.sent_goal import SentGoal

ACCEPT_PATIENCE = 5.0  # s of real time in which a live server accepts a goal
End = TypeVar("End")


class TicketClient(Generic[End]):
    """Sends one goal at a time; `on_end` is called on the executor with its ticket and its end.

    A server that is not running, does not accept or disappears ends the goal too. A newer goal cancels the
    previous one.

    server: name of the server, for messages. end_of: converts a result. failed: returns the end of a goal without a
    result, from the reason.
    """

    def __init__(
        self,
        node: Node,
        action: Any,
        name: str,
        server: str,
        end_of: Callable[[Any], End],
        failed: Callable[[str], End],
        on_end: Callable[[int, End], None],
    ) -> None:
        self._action, self._server = action, server
        self._end_of, self._failed, self._on_end = end_of, failed, on_end
        self._client = ActionClient(node, action, name)
        self._ticket = 0  # ticket of the goal under way; 0 = none
        self._sent: SentGoal | None = None

    def send(self, ticket: int, goal: Any) -> None:
        """Cancel the goal under way and send this one.

        ticket: the caller's number for it, passed to `on_end`.
        """
        self.stop()
        self._ticket = ticket
        if not self._client.server_is_ready():
            self._end(ticket, self._failed(f"{self._server} is not up; start it"))
            return
        self._sent = SentGoal(self._client, self._action, goal, lambda feedback: None)
        self._sent.answer.add_done_callback(lambda done: self._on_accepted(ticket, done))

    def cancel(self, ticket: int) -> None:
        """Cancel a goal if it is under way, without reporting its end."""
        if ticket == self._ticket:
            self.stop()

    def stop(self) -> None:
        """Cancel the goal under way at once, without reporting its end."""
        self._ticket, sent, self._sent = 0, self._sent, None
        if sent is not None:
            sent.cancel()

    def check(self) -> None:
        """End the goal of a server that does not accept it or has disappeared; call this a few times a second."""
        if self._sent is None:
            return
        if not self._client.server_is_ready():
            self._end(self._ticket, self._failed(f"{self._server} went away"))
        elif self._sent.seek() > ACCEPT_PATIENCE:
            self._sent.cancel()
            self._end(self._ticket, self._failed(f"{self._server} takes no goals"))

    def _on_accepted(self, ticket: int, future: Any) -> None:
        if ticket != self._ticket:
            return
        handle = future.result() if future.exception() is None else None
        if handle is None or not handle.accepted:
            self._end(ticket, self._failed(f"{self._server} refused it; it may have too much to do"))
        else:
            handle.get_result_async().add_done_callback(lambda done: self._on_result(ticket, done))

    def _on_result(self, ticket: int, future: Any) -> None:
        if ticket == self._ticket:
            error = future.exception()
            self._end(
                ticket, self._end_of(future.result().result) if error is None else self._failed(str(error))
            )

    def _end(self, ticket: int, end: End) -> None:
        self._ticket, self._sent = 0, None
        self._on_end(ticket, end)
