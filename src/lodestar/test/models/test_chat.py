"""Tests of the chat adapter against servers that are slow, refuse, break off, or answer anything."""

from __future__ import annotations

import json
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from chat_server import chat_server, completion
from waiting import PATIENCE, Moment

from lodestar.models.answer_size import LEAST, TEXT
from lodestar.models.chat import (
    AnswerCutOff,
    BadAnswer,
    BudgetExceeded,
    ChatCancelled,
    ChatUnavailable,
    OpenAiChat,
    Shorter,
)
from lodestar.models.chat_answers import list_of, object_of
from lodestar.models.chat_key import KEY_VARIABLE
from lodestar.models.config import ChatConfig, DayConfig, RetryConfig, SpendingConfig
from lodestar.models.day_budget import DayBudget

pytest.importorskip("openai")

KEY = "sk-very-secret-0123456789"
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["score"],
    "properties": {"score": {"type": "number", "minimum": 0, "maximum": 1}},
}
GOOD = '{"score": 0.5}'
QUICK = RetryConfig(tries=2, base=0.02, longest=0.1)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)


def chat_for(server, **changes):
    config = ChatConfig(
        model="m", base_url=server.url, timeout=60.0, patience=PATIENCE, rest=0.0, retries=QUICK
    )
    return OpenAiChat(replace(config, **changes))


def ask(chat, **kwargs):
    return json.loads(chat.complete("rules", "question", SCHEMA, **kwargs))


def test_a_question_and_its_answer():
    with chat_server(GOOD) as server:
        chat = chat_for(server)
        assert ask(chat, images=[b"\xff\xd8\xff picture"]) == {"score": 0.5}
        (request,) = server.requests
        assert request["model"] == "m"
        assert request["response_format"]["json_schema"]["schema"] == SCHEMA
        assert request["messages"][0] == {"role": "system", "content": "rules"}
        assert request["messages"][1]["content"][1]["image_url"]["url"].startswith("data:image/jpeg;base64,")
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
        assert chat.spending.tokens == 15


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again(status):
    with chat_server((status, "{}"), (status, "{}"), GOOD) as server:
        assert ask(chat_for(server)) == {"score": 0.5}
        assert len(server.requests) == 3


def test_tries_are_bounded():
    with chat_server((429, "{}")) as server:
        with pytest.raises(ChatUnavailable, match="answered 429"):
            ask(chat_for(server))
        assert len(server.requests) == 1 + QUICK.tries


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_does_not_pass_is_not_tried_again(status):
    with chat_server((status, "{}")) as server:
        with pytest.raises(ChatUnavailable, match=str(status)):
            ask(chat_for(server))
        assert len(server.requests) == 1


def test_the_server_s_wish_for_a_pause_is_granted():
    with chat_server((429, "{}", {"Retry-After": "0.4"}), GOOD) as server:
        ask(chat_for(server))
        assert server.times[1] - server.times[0] >= 0.4


@pytest.mark.timed
def test_a_pause_longer_than_the_patience_is_not_waited_for():
    with chat_server((429, "{}", {"Retry-After": "3600"})) as server:
        chat, began = chat_for(server), Moment.now()
        with pytest.raises(ChatUnavailable, match="429"):
            ask(chat)
        assert began.passed() < 5.0
        with pytest.raises(ChatUnavailable, match="not asked for another"):
            ask(chat)
        assert len(server.requests) == 1


def test_a_connection_that_breaks_is_made_anew():
    with chat_server(("do", "cut"), GOOD) as server:
        assert ask(chat_for(server)) == {"score": 0.5}


@pytest.mark.parametrize("how", ["silent", "drip"])
def test_a_server_that_never_finishes_is_given_up(how):
    with chat_server(("do", how)) as server:
        with pytest.raises(ChatUnavailable, match=r"no answer within|connection failed"):
            ask(chat_for(server, timeout=0.3, patience=1.0))
        if how == "drip":
            assert server.released.wait(PATIENCE)  # the client stops reading


def test_an_endpoint_that_failed_is_left_alone_for_a_while():
    with chat_server((500, "{}")) as server:
        chat = chat_for(server, rest=60.0)
        with pytest.raises(ChatUnavailable, match="500"):
            ask(chat)
        count = len(server.requests)
        with pytest.raises(ChatUnavailable, match=r"not asked for another .* answered 500"):
            ask(chat)
        assert len(server.requests) == count


@pytest.mark.timed
def test_a_cancelled_question_ends_at_once_and_the_next_is_asked():
    with chat_server(("do", "silent"), GOOD) as server:
        chat = chat_for(server)
        outcome: list[Exception] = []

        def waits():
            try:
                ask(chat)
            except ChatUnavailable as error:
                outcome.append(error)

        thread = threading.Thread(target=waits)
        thread.start()
        while not server.requests:
            time.sleep(0.005)
        began = Moment.now()
        chat.cancel()
        thread.join(PATIENCE)  # the server gives up after 20 s
        assert not thread.is_alive() and began.passed() < 2.0
        assert isinstance(outcome[0], ChatCancelled)
        assert ask(chat) == {"score": 0.5}


@pytest.mark.parametrize(
    "answer",
    ['```json\n{"score": 0.5}\n```', 'Sure! Here it is:\n{"score": 0.5}\nAnything else?', '{"score": 0.5,}'],
)
def test_a_small_model_s_broken_json_is_repaired(answer):
    with chat_server(answer) as server:
        assert ask(chat_for(server)) == {"score": 0.5}
        assert len(server.requests) == 1


BROKEN = [
    "", "null", "[]", "I cannot do that.", '{"score": "high"}', '{"score": NaN}', '{"score": Infinity}',
    '{"score": 1e9}', '{"score": 1e999}', '{"score": -0.1}', '{"scores": 0.5}', '{"score": 0.5, "x": 1}', '{"score":',
    '{"score": ' + "[" * 100_000, '{"score": ' + "9" * 5000 + "}", '{"score": -' + "9" * 5000 + ",}",
]  # fmt: skip


@pytest.mark.parametrize("answer", BROKEN, ids=lambda text: text[:24])
def test_a_broken_answer_is_asked_for_once_more(answer):
    with chat_server(answer, GOOD) as server:
        assert ask(chat_for(server)) == {"score": 0.5}
        assert "Answer again" in server.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize("answer", BROKEN, ids=lambda text: text[:24])
def test_and_rejected_when_it_stays_broken(answer):
    with chat_server(answer) as server:
        with pytest.raises(BadAnswer, match="rejected"):
            ask(chat_for(server))
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    "body",
    [
        "", "nonsense", "[]", "{}", "null", '{"choices": []}', '{"choices": {}}', '{"choices": [1]}',
        '{"choices": [{"message": null}]}', completion(None), completion(7), completion(["x"]), b"\xff\xfe\x00",
        "[" * 100_000, " " * 5_000_000,
    ],
)  # fmt: skip
def test_a_body_that_is_no_answer_is_an_error_and_no_crash(body):
    with chat_server((200, body)) as server, pytest.raises(ChatUnavailable):
        ask(chat_for(server))


@pytest.mark.parametrize("body", ["{}", '{"choices": []}', completion(None), completion(7)])
def test_an_answer_without_text_is_paid_for_as_it_was_reserved(body):
    with chat_server((200, body)) as server:
        chat = chat_for(server)
        with pytest.raises(ChatUnavailable):
            ask(chat)
        assert chat.spending.tokens > 0


def test_usage_that_cannot_be_is_not_believed():
    with chat_server((200, completion(GOOD, usage=(-5, 10**12)))) as server:
        chat = chat_for(server)
        ask(chat)
        assert 0 < chat.spending.tokens < 1000


def test_the_budget_of_a_task_ends_questions_until_the_next_task():
    with chat_server(GOOD) as server:
        chat = chat_for(server, max_tokens=50, spending=SpendingConfig(tokens=150))
        ask(chat)
        with pytest.raises(BudgetExceeded, match="150 tokens"):
            for _ in range(20):
                ask(chat)
        count = len(server.requests)
        assert 1 < count < 20
        chat.begin_task()
        ask(chat)
        assert len(server.requests) == count + 1


def test_the_cost_of_a_task_is_bounded_too():
    limits = SpendingConfig(tokens=0, cost=1e-3, price_sent=1.0, price_received=10.0)
    with chat_server((200, completion(GOOD, usage=(100, 50)))) as server:
        chat = chat_for(server, max_tokens=50, spending=limits)
        ask(chat)
        assert chat.spending.cost == pytest.approx(6e-4)
        with pytest.raises(BudgetExceeded, match="budget"):
            ask(chat)


def _knows_no_schema(body):
    if body.get("response_format", {}).get("type") == "json_schema":
        return (400, '{"error": {"message": "response_format json_schema is not supported"}}')
    return GOOD


def _wants_other_words(body):
    for word in ("max_tokens", "temperature"):
        if word in body:
            return (400, json.dumps({"error": {"message": f"Unsupported parameter: '{word}'"}}))
    return GOOD


@pytest.mark.parametrize("server_s", [_knows_no_schema, _wants_other_words])
def test_an_endpoint_with_other_habits_is_learned(server_s):
    with chat_server(server_s) as server:
        chat = chat_for(server)
        assert ask(chat) == {"score": 0.5}
        count = len(server.requests)
        ask(chat)
        assert len(server.requests) == count + 1


def test_without_schema_support_the_schema_stands_in_the_rules():
    with chat_server(_knows_no_schema) as server:
        ask(chat_for(server))
        assert '"maximum": 1' in server.requests[-1]["messages"][0]["content"]


def test_the_key_is_shown_nowhere(caplog):
    caplog.set_level(logging.DEBUG)
    told = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}})
    with chat_server((401, told)) as server:
        chat = chat_for(server)
        with pytest.raises(ChatUnavailable) as caught:
            ask(chat)
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
    assert KEY not in caplog.text.replace(told, "")
    assert KEY not in repr(chat) + repr(vars(chat))


def test_credentials_in_the_address_are_refused():
    with pytest.raises(ValueError, match="credentials"):
        OpenAiChat(ChatConfig(base_url="http://user:word@127.0.0.1/v1"))


def test_nobody_there_is_unavailable():
    with chat_server(GOOD) as server:
        url = server.url
    with pytest.raises(ChatUnavailable, match="connection failed"):
        OpenAiChat(ChatConfig(base_url=url, retries=QUICK)).complete("s", "u", SCHEMA)


def cut(content: str) -> tuple[int, str]:
    body = json.loads(completion(content))
    body["choices"][0]["finish_reason"] = "length"
    return 200, json.dumps(body)


LIST = object_of(
    judgements=list_of(object_of(id={"type": "integer"}, reason={"type": "string"}), maxItems=60)
)


def test_an_answer_has_as_many_tokens_as_its_list_may_take():
    with chat_server(GOOD, '{"judgements": []}') as server:
        chat = chat_for(server)
        ask(chat)
        chat.complete("rules", "question", LIST)
        assert server.requests[0]["max_tokens"] == LEAST
        assert 60 * TEXT < server.requests[1]["max_tokens"] <= chat_for(server)._config.max_tokens
        chat_for(server, max_tokens=500).complete("rules", "question", LIST)
        assert server.requests[2]["max_tokens"] == 500


def test_an_answer_that_was_cut_off_is_asked_for_once_more_about_less_and_with_more_room():
    with chat_server(
        cut('{"judgements": [{"id": 1, "re'), '{"judgements": [{"id": 1, "reason": "x"}]}'
    ) as server:
        shorter = Shorter("half of it", object_of(judgements=list_of({"type": "object"}, maxItems=30)))
        found = json.loads(chat_for(server).complete("rules", "all", LIST, shorter=shorter))
        assert found["judgements"][0]["id"] == 1
        first, second = server.requests
        assert second["messages"][1]["content"] == "half of it" and len(second["messages"]) == 2
        assert second["max_tokens"] == 2 * first["max_tokens"]
        assert second["response_format"]["json_schema"]["schema"] == shorter.schema


def test_without_a_shorter_question_the_same_one_is_asked_with_more_room():
    with chat_server(cut('{"sco'), GOOD) as server:
        assert ask(chat_for(server)) == {"score": 0.5}
        assert server.requests[1]["max_tokens"] == 2 * server.requests[0]["max_tokens"]


def test_an_answer_that_is_cut_off_twice_fails_with_a_code():
    with chat_server(cut('{"sco')) as server:
        with pytest.raises(AnswerCutOff, match=r"cut off at 800 tokens.*max_tokens") as caught:
            ask(chat_for(server))
        assert caught.value.code == "MODEL_ERROR" and len(server.requests) == 2


def test_a_whole_answer_at_the_very_end_of_its_tokens_is_taken():
    with chat_server(cut(GOOD)) as server:
        assert ask(chat_for(server)) == {"score": 0.5} and len(server.requests) == 1


def test_the_budget_of_a_day_outlives_a_process_and_is_told(tmp_path):
    day = ["2026-11-26"]

    def budget(**limits):
        return DayBudget(DayConfig(**limits), tmp_path / "state", lambda: day[0])

    with chat_server(GOOD) as server:
        for _ in range(2):  # two processes, one request each
            ask(OpenAiChat(chat_for(server)._config, day=budget(requests=2)))
        with pytest.raises(BudgetExceeded, match=r"today's 2 requests are used up.*midnight UTC") as caught:
            ask(OpenAiChat(chat_for(server)._config, day=budget(requests=2)))
        assert caught.value.code == "MODEL_UNAVAILABLE" and len(server.requests) == 2
        ask(OpenAiChat(chat_for(server)._config, day=budget(requests=3)))
        day[0] = "2026-11-27"
        ask(OpenAiChat(chat_for(server)._config, day=budget(requests=2)))
        assert budget(tokens=1000).reserve(990, day[0]) != "", "15 were used today"
        assert budget(tokens=1000).reserve(980, day[0]) == ""


def test_a_request_over_midnight_counts_for_the_day_on_which_it_was_asked(tmp_path):
    budget = DayBudget(DayConfig(tokens=1000), tmp_path / "state")
    assert budget.reserve(900, "2026-11-26") == ""
    budget.settle(900, 10, "2026-11-26")  # settled after midnight
    assert budget.reserve(1001, "2026-11-27") != "", "nothing is given to the new day"
    assert budget.reserve(990, "2026-11-26") == "" and budget.reserve(1, "2026-11-26") != ""


def test_a_day_that_cannot_be_counted_stops_nothing_and_is_told_once(tmp_path, caplog):
    (tmp_path / "state").write_text("no folder")
    with chat_server(GOOD) as server:
        day = DayBudget(DayConfig(requests=1), tmp_path / "state")
        assert ask(OpenAiChat(chat_for(server)._config, day=day)) == {"score": 0.5}
        assert "not counted" in day.problem
        ask(OpenAiChat(chat_for(server)._config, day=day))
    assert len([r for r in caplog.records if "not counted" in r.message]) == 1


def test_parallel_requests_do_not_exceed_the_budget_of_a_day(tmp_path):
    budgets = [DayBudget(DayConfig(requests=5), tmp_path / "state") for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        refusals = list(pool.map(lambda i: budgets[i % 4].reserve(1, "2026-11-26"), range(20)))
    assert sum(not refusal for refusal in refusals) == 5
