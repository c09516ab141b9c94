"""DO: a user-defined skill, carried out where the robot stands and confirmed by observation."""

from __future__ import annotations

import math

from lodestar.agent.activities.activity import Activity
from lodestar.agent.decisions.admission import SKILL
from lodestar.agent.errands.errand import OpenSkill
from lodestar.agent.errands.run import DirectiveRun
from lodestar.agent.errands.words import step_in_words
from lodestar.agent.facts.errors import ErrorCode
from lodestar.agent.facts.times import NEVER
from lodestar.language.directive import Item
from lodestar.scene.captions import clean_text
from lodestar.scene.records import Entity
from lodestar.worldmodel.hypotheses import measure_of
from lodestar.worldmodel.outcomes import Result
from lodestar.worldmodel.records import Action, Expectation, Skill, Trace, entity_name, said
from lodestar.worldmodel.skill_steps import things_of


class SkillStep(Activity):
    """DO: validates a skill, runs it, waits for its end, and checks that its effects are observed.

    The world model applies the effects when the action is committed, and drops them when it is rolled back.
    """

    def act(self, run: DirectiveRun) -> bool:
        """Begin the skill, or end the step if the validator refuses it. Return True."""
        context, step = self._tools.context, run.step
        if context.facts.pose is None:
            return self._later(run, "I do not know where I am")
        names: list[str] = []
        for item in things_of(step):
            thing = self._thing(run, item, names)
            if thing is None:
                return True  # reported by `_thing`
            names.append(entity_name(thing.id))
        skill, stamp = Skill(step.skill), context.facts.stamp.seconds
        rule, epoch = context.skills.rule(skill), context.next_epoch()
        about = names[0] if names else ""
        trace = Trace(
            context.trace_id(epoch),
            epoch,
            stamp,
            SKILL,
            Action(skill, tuple(names)),
            Expectation(rule.phase, about, by=stamp + rule.patience),
            1.0,
            reason=f"you asked me to {step_in_words(step)}",
            fallback="end the directive, and say why",
        )
        verdict = context.validator.check(trace)
        if not verdict.accepted:
            self._tools.steps.fail(
                run, ErrorCode.SKILL_REFUSED, f"I cannot {self._words(run)}: {verdict.reason}."
            )
            return True
        run.text = f"Doing it: {self._words(run)}."
        self._tools.transitions.carry_out(run, trace, rule.patience)
        return True

    def waited(self, run: DirectiveRun) -> None:
        """End the step when the skill has ended and its effects are seen, or are not seen within `skill_confirm`."""
        context, skill = self._tools.context, run.under_way.skill
        assert skill is not None
        if skill.end is None:
            if context.now >= skill.deadline:
                patience = context.skills.rule(skill.trace.action.skill).patience
                self._failed(run, f"it did not end within {patience:.0f} s")
            return
        if not skill.end.done:
            self._failed(run, clean_text(skill.end.why) or "no reason was given")
            return
        denied = self._denied(skill)
        if not denied:
            self._tools.steps.succeed(run, f"Done: {self._words(run)}.")
        elif context.now - skill.ended >= context.config.skill_confirm:
            self._failed(run, f"I was told that it is done, but {denied}")

    def _thing(self, run: DirectiveRun, item: Item, taken: list[str]) -> Entity | None:
        """Return the entity that the item means: one found by this directive, else the nearest. None = unknown; the
        step has failed or will be retried.
        """
        known = self._tools.context.search.meant(item)
        if known is None:
            self._later(run, f"I have not understood yet what {item.phrase} is")
            return None
        left = [one for one in known if entity_name(one.id) not in taken]
        if not left:
            why = f"I know no {clean_text(item.phrase)}; ask me to find it first"
            self._tools.steps.fail(run, ErrorCode.TARGET_NOT_FOUND, f"I cannot {self._words(run)}: {why}.")
            return None
        pose = self._tools.context.facts.pose
        assert pose is not None
        found = [one for one in left if one.id in run.found]
        return min(found or left, key=lambda one: math.dist(one.mean[:2], pose[:2]))

    def _later(self, run: DirectiveRun, why: str) -> bool:
        """Retry for `no_expert_timeout`, then fail with `why`."""
        context = self._tools.context
        if run.errand.idle_for(context.now) > context.config.no_expert_timeout:
            self._tools.steps.fail(run, ErrorCode.SKILL_REFUSED, f"I cannot {self._words(run)}: {why}.")
        else:
            self.retry(run)
        return True

    def _denied(self, skill: OpenSkill) -> str:
        """Return an effect of the skill that is not observed; "" if all are observed or cannot be measured."""
        context, facts = self._tools.context, self._tools.context.facts
        beliefs = context.skills.confirmed(skill.trace.action)
        if beliefs and facts.sight > NEVER and facts.sight <= skill.ended_at:
            return "no image has come since that could show it"
        for belief in beliefs:
            measure = measure_of(belief, facts.record)
            if measure is not None and measure.holds == belief.negated:
                return (
                    f"it is not so that {said(belief)}: {measure.value:.1f} m, at most {measure.limit:.1f} m"
                )
        return ""

    def _failed(self, run: DirectiveRun, why: str) -> None:
        text = f"I could not {self._words(run)}: {why.rstrip('.')}."
        self._tools.outcomes.close(run, Result.ROLLED_BACK, text)
        self._tools.steps.fail(run, ErrorCode.SKILL_FAILED, text)

    @staticmethod
    def _words(run: DirectiveRun) -> str:
        return step_in_words(run.step)
