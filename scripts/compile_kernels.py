"""Compile the loops of numba into their cache: a headless robot searches an apartment for a few simulated seconds.

`make setup` runs it; otherwise the first decision after an installation waits for the compiler.
"""

from __future__ import annotations

from lodestar_eval.episode import EpisodeRun, EpisodeRunner
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.tasks import prepare

SECONDS = 8.0  # of the simulated clock, in which the robot has looked around, decided and driven; chosen
ANSWER = 0.1  # simulated seconds of an expert's answer: the compiler's time is none of the robot's; chosen


def main() -> EpisodeRun:
    """Return the start of one search, after which the loops that a search needs are compiled."""
    prepared = prepare("apartment", 1, None)
    settings = EpisodeSettings(time_limit=SECONDS, thinking=ANSWER)
    return EpisodeRunner(phrase_book(), settings).run(prepared.world, prepared.task, 1)


if __name__ == "__main__":
    main()
