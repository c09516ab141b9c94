"""Facts of loads that outlive a process, and what a successor makes of them."""

from __future__ import annotations

from unittest.mock import MagicMock

from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.load_again import LoadAgain


class Killed(BaseException):
    """The process is gone: nothing of it runs on."""


class Notes(Checkpointer):
    """The facts that outlive a process, without its files. A dead process notes nothing more."""

    def __init__(self):
        self.kept, self.dead, self.full = {}, False, False

    @property
    def notes(self):
        return self.kept

    def note(self, **values):
        if self.full:
            raise OSError(28, "No space left on device")
        if not self.dead:
            self.kept.update(values)


def repeated(notes):
    """The paths that a leader's successor loads again."""
    node, sent = MagicMock(), []
    node.steady_timer.side_effect = lambda seconds, call: sent.append(call) or MagicMock()
    again = LoadAgain(node, notes)
    if not sent:
        return []
    again._client = MagicMock()
    sent[0]()
    return [call.args[0].path for call in again._client.send_goal_async.call_args_list]
