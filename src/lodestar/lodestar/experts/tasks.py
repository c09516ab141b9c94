"""Tells when another directive began, so that a reasoner's budget and memory begin anew."""

from __future__ import annotations

from collections.abc import Callable

from lodestar.experts.protocol import ProposalRequest
from lodestar.language.directive import Directive

PAUSE = 60.0  # s without a question after which the same words are another task


class TaskWatch:
    """Calls `begin` at the first question of each directive."""

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin = begin
        self._directive: Directive | None = None
        self._stamp = 0.0

    def see(self, request: ProposalRequest) -> None:
        """A question came."""
        silence = request.stamp - self._stamp
        same = self._directive is request.directive or self._directive == request.directive
        if not same or not 0.0 <= silence <= PAUSE:
            self._begin()
        self._directive, self._stamp = request.directive, request.stamp
