"""Seeking advice on a failed action from a language model, while the robot stands."""

from __future__ import annotations

import numpy as np

from lodestar.agent.errands.context import LoopContext
from lodestar.agent.errands.open_action import OpenCase
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import directive_in_words, name_of, place_of
from lodestar.worldmodel.advice import Advice, AdviceQuestion, Adviser, offered_by
from lodestar.worldmodel.outcomes import Diagnosis


class AdviceSeeker:
    """Puts a failure to the adviser once, where the diagnosis is not sure, and waits for a bounded time."""

    def __init__(self, context: LoopContext, adviser: Adviser) -> None:
        self._context, self._adviser = context, adviser

    def seek(self, run: DirectiveRun, case: OpenCase, diagnosis: Diagnosis) -> tuple[bool, Advice | None]:
        """Return whether the case can go on, and the advice; None where none is needed, or none came in time."""
        config, now = self._adviser.config, self._context.now
        if case.asked_advice is None:
            offered = offered_by(diagnosis, config.least)
            sure = (
                bool(diagnosis.causes)
                and diagnosis.causes[0].probability >= self._context.config.recovery.sure
            )
            if sure or len(offered) < 2:
                return True, None
            case.asked_advice = now
            near = self._near(config.things)
            self._adviser.ask(
                AdviceQuestion(directive_in_words(run.directive), case.why, diagnosis, offered, near)
            )
        done, advice = self._adviser.answer()
        if not done and now - case.asked_advice >= config.patience:
            self._adviser.drop()
            done = True
        return done, advice

    def _near(self, most: int) -> tuple[str, ...]:
        """Return a line for each of the nearest things."""
        facts = self._context.facts
        if facts.mirror is None or facts.pose is None:
            return ()
        entities = list(facts.mirror.entities.values())
        away = [float(np.linalg.norm(entity.mean[:2] - facts.pose[:2])) for entity in entities]
        nearest = sorted(zip(away, entities, strict=True), key=lambda pair: pair[0])[:most]
        return tuple(
            f"{name_of(one)} {place_of(one, facts.mirror)}, {metres:.1f} m away, {one.state.name}"
            for metres, one in nearest
        )
