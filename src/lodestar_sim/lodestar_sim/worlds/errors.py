"""Errors of worlds."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN = 100  # largest number of problems listed in a message


class WorldError(ValueError):
    """The world is not valid; the message names the faulty record and the fix.

    problems: one sentence per problem; the message joins them.
    """

    def __init__(self, message: str, problems: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems) or (message,)

    @classmethod
    def of(cls, problems: Sequence[str], where: str = "") -> WorldError:
        """Return one error for all problems. where: file or record in which they were found."""
        prefix = f"{where}: " if where else ""
        if len(problems) == 1:
            return cls(f"{prefix}{problems[0]}", problems)
        lines = [f"  - {problem}" for problem in problems[:_SHOWN]]
        if len(problems) > _SHOWN:
            lines.append(f"  - and {len(problems) - _SHOWN} more")
        return cls("\n".join([f"{prefix}{len(problems)} problems:", *lines]), problems)
