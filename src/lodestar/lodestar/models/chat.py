"""Interface to a language model that answers in JSON, and its client for OpenAI-compatible endpoints."""

from __future__ import annotations

import json
import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from lodestar.models.answer_size import answer_tokens
from lodestar.models.chat_answers import BrokenAnswer, parse_answer
from lodestar.models.chat_budget import Spending, tokens_in, tokens_of
from lodestar.models.chat_key import NoKey, holds_key, read_key
from lodestar.models.chat_request import RequestFormat, arguments_of, messages_of
from lodestar.models.chat_retries import pause_before, retry_after
from lodestar.models.config import ChatConfig
from lodestar.models.day_budget import DayBudget

# HTTP statuses that are retried: time-out, conflict, rate limit and temporary server errors (RFC 9110, RFC 6585)
RETRY_STATUSES: tuple[int, ...] = (408, 409, 429, 500, 502, 503, 504, 529)

_log = logging.getLogger(__name__)

OPENAI_URL = "https://api.openai.com/v1"
MAX_BYTES = 4_000_000  # most bytes of a response that are read
LONGEST_REST = 600.0  # seconds; upper limit of the pause that an endpoint may ask for

# errors raised while parsing a malformed response
_MALFORMED = (ValueError, TypeError, LookupError, RecursionError)


class ChatUnavailable(RuntimeError):
    """Error: the model cannot be asked or did not answer. The message says why and does not contain the key.

    code: error code for programs.
    """

    code = "MODEL_UNAVAILABLE"


class BudgetExceeded(ChatUnavailable):
    """Error: the budget of the task is used up."""


class ChatCancelled(ChatUnavailable):
    """Error: the caller cancelled the question."""


class BadAnswer(ChatUnavailable):
    """Error: the model answered twice without valid JSON of the schema, or an answer contained the key."""

    code = "MODEL_ERROR"


class AnswerCutOff(BadAnswer):
    """Error: the answer was cut off at its limit of tokens, and the second try at twice that limit."""


class ChatModel(Protocol):
    """Interface of a language model."""

    def complete(
        self,
        system: str,
        user: str,
        schema: dict[str, Any],
        images: Sequence[bytes] = (),
        shorter: Shorter | None = None,
    ) -> str:
        """Return the model's answer, which should be JSON of the schema. Raises ChatUnavailable.

        images: JPEG or PNG files. shorter: question to ask instead if the answer was cut off.
        """


@dataclass(frozen=True)
class Shorter:
    """Question to ask instead if the answer to another one was cut off.

    schema: allows no more than the schema of the other question.
    """

    user: str
    schema: dict[str, Any]


class OpenAiChat:
    """Client of any OpenAI-compatible endpoint. Thread-safe; reads the key from the environment and never shows it."""

    def __init__(
        self,
        config: ChatConfig = ChatConfig(),
        rng: random.Random | None = None,
        day: DayBudget | None = None,
    ) -> None:
        parts = urlsplit(config.base_url)
        if parts.username or parts.password:
            raise ValueError(
                "base_url contains credentials; put the key into the variable named by key_variable"
            )
        self._config = config
        self._rng = rng or random.Random(0)
        self._lock = threading.Lock()
        self._client: Any = None
        self._holds_key: Callable[[str], bool] = lambda text: False
        self._form = RequestFormat()
        self._spending = Spending(config.spending)
        self._day = day or DayBudget(config.day)
        self._open_calls: set[_Call] = set()
        self._resting_until = 0.0
        self._why_resting = ""

    @property
    def spending(self) -> Spending:
        """Return the spending of the current task."""
        return self._spending

    def begin_task(self) -> None:
        """Start a new task with a full budget."""
        with self._lock:
            self._spending = Spending(self._config.spending)

    def cancel(self) -> None:
        """Cancel all pending questions; they raise ChatCancelled at once. Later questions are not affected."""
        with self._lock:
            calls = list(self._open_calls)
        for call in calls:
            call.cancel()

    def complete(
        self,
        system: str,
        user: str,
        schema: dict[str, Any],
        images: Sequence[bytes] = (),
        shorter: Shorter | None = None,
    ) -> str:
        """Return JSON of the schema. Raises subclasses of ChatUnavailable.

        A malformed answer is requested once more. An answer that was cut off is requested once more with
        twice the tokens, and by the question `shorter` if it is given.
        """
        limit = min(answer_tokens(schema), self._config.max_tokens)
        messages = messages_of(system, user, images)
        call = _Call(time.monotonic() + self._config.patience)
        with self._lock:
            left = self._resting_until - time.monotonic()
            if left > 0.0:
                raise ChatUnavailable(f"not asked for another {left:.0f} s: {self._why_resting}")
            self._open_calls.add(call)
        try:
            answer, is_cut = self._ask(messages, schema, limit, call)
            try:
                return json.dumps(parse_answer(answer, schema))
            except BrokenAnswer as broken:
                _log.info("the language model is asked again: %s", "cut off" if is_cut else broken)
                again = f"{broken}. Answer again, with one JSON object of the schema and nothing else."
                if is_cut:
                    limit *= 2
                    if shorter is not None:
                        schema, messages = shorter.schema, messages_of(system, shorter.user, images)
                else:
                    messages += [
                        {"role": "assistant", "content": answer[:4000]},
                        {"role": "user", "content": again},
                    ]
            answer, is_cut = self._ask(messages, schema, limit, call)
            try:
                return json.dumps(parse_answer(answer, schema))
            except BrokenAnswer as broken:
                if is_cut:
                    raise AnswerCutOff(
                        f"the language model's answer is rejected: it was cut off at {limit} tokens; "
                        "set a larger max_tokens, or ask about less"
                    ) from None
                raise BadAnswer(f"the language model's answer is rejected: {broken}") from None
        finally:
            with self._lock:
                self._open_calls.discard(call)

    def _ask(
        self, messages: list[dict[str, Any]], schema: dict[str, Any], limit: int, call: _Call
    ) -> tuple[str, bool]:
        """Return the text of one answer of at most `limit` tokens, and whether it was cut off there.

        Failed requests are retried.
        """
        config = self._config
        client, errors = self._open()
        tries = 0
        while True:
            call.check()
            wait, again = None, True
            try:
                return self._try(client, messages, schema, limit, call)
            except errors.APIStatusError as error:
                simpler = self._form.simpler(str(error)) if error.status_code in (400, 422) else None
                if simpler is not None:
                    self._form = simpler
                    continue
                reason = f"the endpoint answered {error.status_code}"
                again = error.status_code in RETRY_STATUSES
                wait = retry_after(error.response.headers)
            except (errors.APIConnectionError, ConnectionError) as error:  # includes the client's time-out
                reason = f"the connection failed ({error.__class__.__name__})"
            except TimeoutError:
                reason = f"no answer within {config.timeout:g} s"
            except (errors.OpenAIError, *_MALFORMED) as error:
                reason, again = f"what the endpoint sent is no answer ({error.__class__.__name__})", False
            tries += 1
            pause = pause_before(tries, wait, config.retries, self._rng)
            if not again or tries > config.retries.tries or pause >= call.left:
                raise self._gives_up(reason, wait or 0.0) from None
            call.sleep(pause)

    def _try(
        self, client: Any, messages: list[dict[str, Any]], schema: dict[str, Any], limit: int, call: _Call
    ) -> tuple[str, bool]:
        """Send one request; return the text of the answer, and whether it was cut off.

        Raises the client's errors, TimeoutError, BudgetExceeded, ChatCancelled and BadAnswer.
        """
        config, form, spending = self._config, self._form, self._spending
        arguments = arguments_of(config, form, messages, schema, limit)
        reserved = (tokens_of(arguments["messages"], len(json.dumps(schema))), limit)
        refusal, day = spending.reserve(*reserved), self._day.today()
        if not refusal:
            refusal = self._day.reserve(sum(reserved), day)
            if refusal:
                spending.settle(reserved, (0, 0))
        if refusal:
            raise BudgetExceeded(f"the language model is not asked: {refusal}")
        used = (0, 0)
        timeout = min(config.timeout, call.left)
        try:
            response = call.run(lambda: _post(client, arguments, timeout, call), timeout)
            used = reserved  # billed, although its counts or its text may be missing
            choice = response["choices"][0]
            text = choice["message"]["content"]
            used = _usage(response, reserved[0], text if isinstance(text, str) else "")
        except (TimeoutError, ChatCancelled):
            used = reserved  # the endpoint may still be processing it, and bill it
            raise
        finally:
            spending.settle(reserved, used)
            self._day.settle(sum(reserved), sum(used), day)
        if not isinstance(text, str):
            raise ValueError("there is no text in the answer")
        # an endpoint that echoes the request would copy the key into messages and files
        if self._holds_key(text):
            raise BadAnswer("the language model's answer is rejected: it contains the key")
        return text, choice.get("finish_reason") == "length"

    def _gives_up(self, reason: str, wished: float) -> ChatUnavailable:
        """Return the error for a failed question, and pause the endpoint, so that no step waits for it.

        wished: pause that the endpoint asks for, seconds.
        """
        with self._lock:
            self._resting_until = time.monotonic() + min(max(self._config.rest, wished), LONGEST_REST)
            self._why_resting = reason
        return ChatUnavailable(f"the language model did not answer: {reason}")

    def _open(self) -> tuple[Any, Any]:
        """Return the client and the module of its errors. Raises ChatUnavailable."""
        try:
            import openai
        except ImportError as error:
            raise ChatUnavailable("openai is not installed; pip install 'lodestar[llm]'") from error
        config = self._config
        with self._lock:
            if self._client is None:
                try:
                    key = read_key(config.key_variable, needed=not config.base_url)
                except NoKey as error:
                    raise ChatUnavailable(str(error)) from None
                url = config.base_url or OPENAI_URL
                self._client = openai.OpenAI(api_key=key, base_url=url, timeout=config.timeout, max_retries=0)
                self._holds_key = lambda text: holds_key(text, key)
            return self._client, openai


class _Call:
    """One pending question to a language model. deadline: seconds of the monotonic clock."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._wake = threading.Condition()
        self._cancelled = False

    @property
    def left(self) -> float:
        """Return the seconds left until the deadline, at least 0."""
        return max(self._deadline - time.monotonic(), 0.0)

    @property
    def is_over(self) -> bool:
        """Return whether the question was cancelled or its deadline has passed."""
        return self._cancelled or self.left <= 0.0

    def cancel(self) -> None:
        """Cancel the question: `sleep` and `run` stop waiting."""
        with self._wake:
            self._cancelled = True
            self._wake.notify_all()

    def check(self) -> None:
        """Raise ChatCancelled if the question was cancelled."""
        if self._cancelled:
            raise ChatCancelled("the question to the language model was cancelled")

    def sleep(self, seconds: float) -> None:
        """Wait the given seconds. Raises ChatCancelled."""
        with self._wake:
            self._wake.wait_for(lambda: self._cancelled, seconds)
        self.check()

    def run(self, request: Callable[[], Any], timeout: float) -> Any:
        """Run the request on its own thread and return its result; a slow server can block that thread for long.

        Raises the request's errors, TimeoutError, ChatCancelled.
        """
        outcome: list[tuple[Any, BaseException | None]] = []

        def work() -> None:
            try:
                result: tuple[Any, BaseException | None] = (request(), None)
            except BaseException as error:
                result = (None, error)
            with self._wake:
                outcome.append(result)
                self._wake.notify_all()

        threading.Thread(target=work, name="chat", daemon=True).start()
        with self._wake:
            self._wake.wait_for(lambda: bool(outcome) or self._cancelled, timeout)
        self.check()
        if not outcome:
            raise TimeoutError
        value, error = outcome[0]
        if error is not None:
            raise error
        return value


def _post(client: Any, arguments: dict[str, Any], timeout: float, call: _Call) -> Any:
    """Send a request and return the JSON of the response; reading stops when the question ends.

    Raises the client's errors, ConnectionError, ValueError, TimeoutError.
    """
    until = time.monotonic() + timeout
    create = client.chat.completions.with_streaming_response.create
    with create(timeout=timeout, **arguments) as response:
        body = bytearray()
        parts = response.iter_bytes()
        while True:
            try:
                part = next(parts, b"")
            except Exception as error:  # errors of the HTTP library, which differ between client versions
                raise ConnectionError(error.__class__.__name__) from None
            if not part:
                return json.loads(body)
            body += part
            if len(body) > MAX_BYTES:
                raise ValueError("the response is too long")
            if call.is_over or time.monotonic() > until:
                raise TimeoutError


def _usage(response: dict[str, Any], sent: int, text: str) -> tuple[int, int]:
    """Return the tokens sent and received: the endpoint's counts if they are plausible, else estimates."""
    usage = response.get("usage")
    if isinstance(usage, dict):
        counts = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if all(type(count) is int and 0 <= count < 10_000_000 for count in counts):
            return counts[0], counts[1]  # type: ignore[return-value]
    return sent, int(tokens_in(text)) + 1
