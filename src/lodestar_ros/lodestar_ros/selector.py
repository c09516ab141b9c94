"""Parts of the goal selector: decision loop built from parameters, dispatcher of its commands, recorder."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path

from lodestar.agent.errands.commands import (
    AskMemory,
    CancelGoal,
    CancelSkill,
    Command,
    EmbedPhrases,
    Finish,
    FollowConstraints,
    LookFor,
    PassageFailed,
    RecordDecision,
    RecordOutcome,
    RecordTrace,
    RequestProposals,
    RunSkill,
    SendGoal,
    SkillEnd,
    TakePassage,
    WithdrawQuery,
)
from lodestar.agent.loop.machine import DecisionLoop
from lodestar.assembly import parts
from lodestar.assembly.config import GoalSelectorConfig
from lodestar.memory.answer import AnswerOutcome
from lodestar.models.phrases import PhraseBook
from lodestar.selection.decisions import Decision
from lodestar.selection.linucb import LinUcb, save_state
from lodestar.selection.policies import state_file
from lodestar.selection.policy import Policy
from lodestar.worldmodel.advice import make_adviser
from lodestar.worldmodel.decision_log import DecisionLog, Record
from lodestar.worldmodel.outcomes import ActionOutcome
from lodestar.worldmodel.records import Trace
from lodestar.worldmodel.skills import BadSkills
from lodestar_interfaces import msg
from lodestar_ros import memory_client, qos, skill_client
from lodestar_ros.conversions_agent import decision_to_msg, question_to_msg
from lodestar_ros.conversions_world import outcome_to_msg, trace_to_msg
from lodestar_ros.decision_display import DecisionDisplay
from lodestar_ros.directive_server import DirectiveServer
from lodestar_ros.embedder_client import EmbedderClient
from lodestar_ros.expert_clients import ExpertClients
from lodestar_ros.nav2_client import Nav2Client
from lodestar_ros.node import LodestarNode
from lodestar_ros.parameters import ParameterError
from lodestar_ros.passage_desk import PassageDesk
from lodestar_ros.ticket_client import TicketClient
from lodestar_ros.words_client import WordsClient
from lodestar_ros.workers import QueueWorker


def make_loop(
    node: LodestarNode, config: GoalSelectorConfig, book: PhraseBook
) -> tuple[DecisionLoop, PolicyKeeper]:
    """Return the decision loop and the keeper of its policy's state.

    Raises ParameterError if `selection.policy_state` names a file of another policy, or `shared.skills_file` no valid
    file of skills.
    """
    try:
        policy = parts.policy(config, keeps=True, warn=node.get_logger().warning)
    except (ValueError, OSError) as error:
        raise ParameterError(f"selection: {error}") from error
    adviser = make_adviser(config.advice, node.get_logger().warning)
    if adviser is not None:
        node.on_close(adviser.close)
    prefix = uuid.uuid4().hex[:8]
    try:
        context = parts.loop_context(config, node.shared, book, policy, prefix, adviser)
    except BadSkills as error:
        raise ParameterError(f"shared.skills_file: {error}") from error
    file = state_file(config.selection, config.experts)
    return parts.decision_loop(context), PolicyKeeper(node, policy, file)


class PolicyKeeper:
    """Saves the policy's state after each directive, on its own thread."""

    def __init__(self, node: LodestarNode, policy: Policy, file: Path | None) -> None:
        self._policy = policy
        self._writer: QueueWorker[dict] | None = None
        if file is not None:
            self._writer = QueueWorker(
                "policy_state", lambda state: save_state(state, file), node.diagnostics.error
            )
            node.on_close(self._writer.close)

    def directive_over(self) -> None:
        """Queue the policy's current state for writing."""
        if self._writer is not None and isinstance(self._policy, LinUcb):
            self._writer.submit(self._policy.state())


@dataclass
class CommandDispatcher:
    """Passes the decision loop's commands on to the clients and servers that execute them, without
    blocking.
    """

    experts: ExpertClients
    navigator: Nav2Client
    embedder: EmbedderClient
    server: DirectiveServer
    recorder: DecisionRecorder
    keeper: PolicyKeeper
    memory: TicketClient[AnswerOutcome]
    skills: TicketClient[SkillEnd]
    words: WordsClient
    passages: PassageDesk

    def carry_out(self, command: Command, now: float) -> None:
        """Execute one command. now: seconds of the node's clock."""
        if isinstance(command, RequestProposals):
            self.recorder.asked(command)
            self.experts.ask(command)
        elif isinstance(command, SendGoal):
            self.navigator.send(command.epoch, command.goal, now)
        elif isinstance(command, CancelGoal):
            self.navigator.cancel()
        elif isinstance(command, RecordDecision):
            self.recorder.record(command.decision)
        elif isinstance(command, RecordTrace):
            self.recorder.record_trace(command.trace)
        elif isinstance(command, RecordOutcome):
            self.recorder.record_outcome(command.outcome)
        elif isinstance(command, EmbedPhrases):
            self.embedder.request(command.phrases)
        elif isinstance(command, LookFor):
            self.words.want(command.wanted)
        elif isinstance(command, AskMemory):
            self.memory.send(command.ticket, memory_client.goal_of(command.question))
        elif isinstance(command, WithdrawQuery):
            self.memory.cancel(command.ticket)
        elif isinstance(command, RunSkill):
            self.skills.send(command.ticket, skill_client.goal_of(command.trace))
        elif isinstance(command, TakePassage | PassageFailed):
            self.passages.carry_out(command)
        elif isinstance(command, CancelSkill):
            self.skills.cancel(command.ticket)
            self.passages.cancel(command.ticket)
        elif isinstance(command, FollowConstraints):
            self.server.say(command.directive)
        elif isinstance(command, Finish):
            self.recorder.display.asked(command.result.question)
            self.server.finish(command.result)
            self.keeper.directive_over()


class DecisionRecorder:
    """Publishes ``~/question``, ``~/decision``, ``~/traces``, ``~/outcomes`` and ``~/markers``; appends
    decisions, traces and outcomes to the log on its own thread.
    """

    def __init__(self, node: LodestarNode, log: str) -> None:
        self._publisher = node.create_publisher(msg.Decision, "~/decision", qos.HISTORY)
        self._traces = node.create_publisher(msg.ReasoningTrace, "~/traces", qos.HISTORY)
        self._outcomes = node.create_publisher(msg.TraceOutcome, "~/outcomes", qos.HISTORY)
        self._questions = node.create_publisher(msg.Question, "~/question", qos.EVENT)
        self.display = DecisionDisplay(node)
        self._writer: QueueWorker[Record] | None = None
        if log:
            self._writer = QueueWorker("decision_log", DecisionLog(log).write, node.diagnostics.error)
            node.on_close(self._writer.close)

    def asked(self, command: RequestProposals) -> None:
        """Publish a question to the experts."""
        self._questions.publish(question_to_msg(command.request, command.experts))

    def record(self, decision: Decision) -> None:
        """Publish and log a new decision, or one whose outcome is known."""
        self.display.decided(decision)
        self._publisher.publish(decision_to_msg(decision))
        if self._writer is not None:
            self._writer.submit(decision)

    def record_trace(self, trace: Trace) -> None:
        """Publish and log the reasoning behind a goal."""
        self._traces.publish(trace_to_msg(trace))
        self.display.traced(trace)
        if self._writer is not None:
            self._writer.submit(trace)

    def record_outcome(self, outcome: ActionOutcome) -> None:
        """Publish and log the outcome of an action."""
        self._outcomes.publish(outcome_to_msg(outcome))
        self.display.ended(outcome)
        if self._writer is not None:
            self._writer.submit(outcome)
