"""Settings of episodes in tests: half as many images as a benchmark's, of a quarter of their pixels."""

from __future__ import annotations

from lodestar_eval.settings import NOISES, EpisodeSettings, robot_config

QUICK = EpisodeSettings(thinking=0.05, frame_interval=0.5, width=160, height=120)
EXACT = robot_config(NOISES["none"])
