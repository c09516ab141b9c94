"""Where to go next: ask, admit, choose, or end what has nowhere left to go."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from lodestar.agent.admission import Admission
from lodestar.agent.core import EXPLORER
from lodestar.agent.driving import Driving
from lodestar.agent.endings import explored_in_words, give_up
from lodestar.agent.errors import ErrorCode
from lodestar.agent.run import Run
from lodestar.agent.targets import TargetView
from lodestar.agent.words import inventory
from lodestar.experts.protocol import RejectionReason
from lodestar.grid.paths import path_lengths
from lodestar.language.directive import DirectiveKind
from lodestar.scene.records import Entity, EntityState


class Deciding(Driving):
    """What the loop does while it has no goal that satisfies it."""

    def _deciding(self, run: Run) -> None:
        if self._pose is None or self._grid is None:
            self._wait_for_map(run)
            return
        if run.begun_at is None:
            run.begun_at = self._pose.copy()
        if run.charging or run.kind is DirectiveKind.RETURN:
            self._go_home(run)
        elif run.questions.request is None:
            if self._now >= run.ask_after:
                self._ask(run, self._experts_for(run))
        elif run.questions.is_due(self._now):
            view = self._look(run)
            admission = self._admit(run, view)
            if self._gave_way(run, admission):
                self._redecide(run)
            elif self._head_for_known(run, admission, view):
                run.idle_since = None
            elif admission.admissible:
                run.idle_since = None
                self._choose(run, admission, view)
            else:
                self._nothing_to_do(run, admission, view)

    def _wait_for_map(self, run: Run) -> None:
        if self._now - run.started <= self.config.no_map_timeout:
            return
        if self._grid is None:
            self._finish(run, ErrorCode.NO_MAP, f"No grid came in {self.config.no_map_timeout:.0f} s.")
        else:
            self._finish(run, ErrorCode.TF_ERROR, "The robot's pose in the map is not known.")

    def _nothing_to_do(self, run: Run, admission: Admission, view: TargetView) -> None:
        """No expert has an admissible proposal: wait for who thinks, try excluded goals once more, or give up."""
        run.questions.close()
        if admission.rejection(EXPLORER) is RejectionReason.EXPLORED:
            self._explored(run, admission, view)
            return
        self._redecide(run, self.config.retry_interval)
        if run.idle_for(self._now) > self.config.no_expert_timeout:
            reasons = "; ".join(f"{arm.expert}: {arm.reason}" for arm in admission.arms)
            self._finish(run, ErrorCode.NO_EXPERT, f"No expert could propose anything ({reasons}).")

    def _explored(self, run: Run, admission: Admission, view: TargetView) -> None:
        """Nothing reachable is left to explore."""
        run.explored_at = self._now if run.explored_at is None else run.explored_at
        entities = self._mirror.entities if self._mirror is not None else {}
        if run.kind is DirectiveKind.EXPLORE:
            self._step_done(run, self._exploration(admission))
        elif run.kind is DirectiveKind.INVENTORY:
            self._take_stock(run, admission)
        elif self._waits_for_thinkers(run):
            self._redecide(run, self.config.retry_interval)
        elif run.second_chance():
            self._redecide(run)
        else:
            blind = self._blind_for(run, entities.values())
            self._step_failed(run, *give_up(run, admission, view, entities, blind))

    def _waits_for_thinkers(self, run: Run) -> bool:
        """Whether an expert has yet to say something that it was asked after everything was explored."""
        assert run.explored_at is not None
        if self._now - run.explored_at > self.config.thinking_patience:
            return False
        behind = [name for name in self.experts if run.questions.is_behind(name, run.explored_at)]
        if behind:
            run.text = f"Everything reachable is explored; waiting for {' and '.join(behind)} to answer."
            run.idle_since = None
        return bool(behind)

    def _exploration(self, admission: Admission) -> str:
        assert self._grid is not None and self._pose is not None
        reached = np.isfinite(path_lengths(self._grid, self._pose[:2]))
        left = next((arm.reason.partition(": ")[2] for arm in admission.arms if arm.expert == EXPLORER), "")
        return explored_in_words(self._grid, reached, left)

    def _take_stock(self, run: Run, admission: Admission) -> None:
        """Everything that meets the query is listed, which is what was asked for even where it is nothing."""
        matches = self._matches(run)
        if matches is None:  # the words are not known yet; their vectors are under way
            self._redecide(run, self.config.retry_interval)
            if run.idle_for(self._now) > self.config.no_expert_timeout:
                self._finish(run, ErrorCode.NO_EXPERT, "The text model did not say what the words mean.")
            return
        run.found.extend(entity.id for entity in matches if entity.id not in run.found)
        listed = inventory(matches, run.subtask.target, self._mirror)
        self._step_done(run, f"{self._exploration(admission)}\n{listed}")

    def _matches(self, run: Run) -> list[Entity] | None:
        """Every entity that the step asks for; None where a phrase has no vector yet."""
        if self._mirror is None:
            return []
        if not run.subtask.graphs:
            return [e for e in self._mirror.entities.values() if e.state is not EntityState.ARCHIVED]
        view = self._targets.look(self._mirror, run.subtask)
        if view.missing:
            self._ask_for(view.missing)
            return None
        return self._accepted_entities(view)

    def _blind_for(self, run: Run, entities: Iterable[Entity]) -> float:
        """Seconds since anything at all was seen, where that is longer than it can be; else 0."""
        newest = max((entity.last_seen for entity in entities), default=-math.inf)
        silence = self._now - max(newest, run.started)
        return silence if silence > self.config.scene_patience else 0.0
