"""Fake persistent notes on loads, and the resulting actions of a restarted process."""

from __future__ import annotations

from unittest.mock import MagicMock

from lodestar_ros.checkpoints import Checkpointer
from lodestar_ros.load_again import LoadAgain


class Killed(BaseException):
    """Simulates the death of the process."""


class Notes(Checkpointer):
    """Fake checkpointer with notes that survive a process; a dead process cannot write."""

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
    """Return the paths that a leader's successor loads again, for given notes."""
    node, sent = MagicMock(), []
    node.steady_timer.side_effect = lambda seconds, call: sent.append(call) or MagicMock()
    again = LoadAgain(node, notes)
    if not sent:
        return []
    again._client = MagicMock()
    sent[0]()
    return [call.args[0].path for call in again._client.send_goal_async.call_args_list]
