"""Detection of a new directive, at which a reasoner's budget and memory are reset."""

from __future__ import annotations

from collections.abc import Callable

from lodestar.experts.protocol import ProposalRequest
from lodestar.language.directive import Directive

PAUSE = 60.0  # s without a request after which the same directive counts as new


class TaskWatch:
    """Calls `begin` at the first request of each directive."""

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin = begin
        self._directive: Directive | None = None
        self._stamp = 0.0

    def see(self, request: ProposalRequest) -> None:
        """Note a request; call `begin` if it starts a directive."""
        silence = request.stamp - self._stamp
        same = self._directive is request.directive or self._directive == request.directive
        if not same or not 0.0 <= silence <= PAUSE:
            self._begin()
        self._directive, self._stamp = request.directive, request.stamp
