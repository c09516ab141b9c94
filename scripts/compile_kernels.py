"""Fill numba's cache of compiled functions: a headless robot searches an apartment for a few simulated
seconds.

`make setup` runs it; otherwise the robot's first decision after an installation waits for the compiler.
"""

from __future__ import annotations

import gc

import numpy as np

from lodestar.assembly.config import MappingConfig, SemanticVoxelsConfig
from lodestar.geometry.camera import PinholeCamera
from lodestar.mapping.closure_rehearsal import rehearse_plan, rehearse_voxels
from lodestar.perception.box_masks import BoxMasker
from lodestar.perception.found_things import FoundThing
from lodestar.perception.frames import AlignedDepth, ImageBox
from lodestar_eval.episode import EpisodeRun, EpisodeRunner
from lodestar_eval.phrase_book import phrase_book
from lodestar_eval.settings import EpisodeSettings
from lodestar_eval.tasks import prepare

SECONDS = 12.0  # of the simulated clock, in which the robot has looked around, decided and driven; chosen
ANSWER = 0.1  # simulated seconds of an expert's answer: the compiler's time is none of the robot's; chosen


def main() -> EpisodeRun:
    """Run the first seconds of one search, which compiles the numba functions that a search needs; return the
    run.
    """
    gc.disable()  # the compiler's trees only grow: an eighth of the time, for 0.3 GB
    mask_a_box()
    rehearse_plan(MappingConfig().octomap)
    rehearse_voxels(SemanticVoxelsConfig().voxels.geometry)
    prepared = prepare("apartment", 1, None)
    settings = EpisodeSettings(time_limit=SECONDS, thinking=ANSWER)
    return EpisodeRunner(phrase_book(), settings).run(prepared.world, prepared.task, 1)


def mask_a_box() -> None:
    """Compile the functions that compute masks for detection boxes; the search above does not call them."""
    thing = FoundThing("thing", 1.0, ImageBox(20, 16, 24, 16))
    camera = PinholeCamera(64, 48, 60.0, 60.0, 31.5, 23.5)
    BoxMasker().masked([thing], AlignedDepth(np.full((48, 64), 2.0, np.float32), camera))


if __name__ == "__main__":
    main()
