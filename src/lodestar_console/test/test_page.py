"""Tests of a page over real sockets: first minute, two operators, roles, and malformed messages."""

import json

import pytest
from page_client import PageClient, StateReader
from waiting import PATIENCE

from lodestar_console import protocol
from lodestar_console.web import frames


@pytest.fixture(scope="module")
def page(script):
    return PageClient(script.console.link())


def test_a_page_sees_the_stack(page):
    with page.open("state") as socket:
        state = StateReader(socket)
        state.until(
            lambda s: {"robot", "directive", "rooms", "health"} <= s.parts.keys() and "entities" in s.items
        )
        assert state.hello["role"] == "command" and state.hello["protocol"] == protocol.VERSION
        assert len(state.items["entities"]) == 6 and state.parts["robot"]["pose"][:2] == pytest.approx(
            [1, 1], abs=9
        )


def test_a_view_is_binary_and_only_what_is_wanted(page):
    with page.open("view") as socket:
        with pytest.raises(TimeoutError):
            socket.recv(timeout=0.4)
        socket.send(json.dumps({"want": {"cloud": True, "grid": True, "camera": True, "hz": 10}}))
        kinds = set()
        while kinds != {protocol.CLOUD, protocol.GRID, protocol.CAMERA}:
            data = socket.recv(timeout=PATIENCE)
            kinds.add(frames.HEADER.unpack_from(data)[0])


def test_the_first_minute(script, page):
    with page.open("state") as socket, page.open("stop") as stop:
        state = StateReader(socket)
        meaning = state.request("directive", text="find the red chair", dry_run=True)
        assert meaning["ok"] and meaning["value"]["understood"] == "Find the red chair."
        assert not state.parts.get("directive", {}).get("running")
        assert state.request("directive", text="find the red chair")["ok"]
        state.until(lambda s: s.parts["directive"]["running"] and s.parts["robot"]["speed"] > 0)
        assert state.parts["lease"]["lease"]["holder"] == state.hello["name"]
        stop.send('{"stop": true}')
        assert [json.loads(stop.recv(timeout=PATIENCE))["stop"] for _ in range(3)] == [
            "sent",
            "held",
            "stands",
        ]
        state.until(lambda s: s.parts["robot"]["held"] and not s.parts["directive"]["running"])
        assert not state.request("directive", text="find the red chair")["ok"]
        assert state.resume()["ok"]
        answer = state.request("ask", text="where is the printer?")
        assert answer["value"]["places"] and answer["value"]["proofs"][0]["keyframe"]
        assert page.get(f"/keyframes/{answer['value']['proofs'][0]['keyframe']}.jpg?outline=1").status == 200
        assert state.request("correct", text="it is gone", entity=5)["ok"]
        state.until(lambda s: s.items["entities"][5]["state"] == "archived" and s.items.get("beliefs"))
        entry = next(iter(state.items["beliefs"].values()))["entry"]
        assert state.request("undo", entry=entry)["ok"]
        state.until(lambda s: s.items["entities"][5]["state"] == "active")
        state.until(lambda s: s.items.get("decisions") and len(s.items.get("events", ())) > 8)
        decision = next(iter(state.items["decisions"].values()))
        assert state.request("at", time=decision["at"] + 0.01)["value"]["decision"]["id"] == decision["id"]
        deeds = [event["text"] for event in state.items["events"].values() if event["kind"] == "OPERATOR"]
        assert any("pressed STOP" in text for text in deeds) and any(
            "sent “find the red chair”" in text for text in deeds
        )
        assert any(text.startswith("operator 1 asked “where is the printer?”: ") for text in deeds), deeds
    assert '"what":"stop"' in page.get("/journal").text


def test_a_question_of_the_robot_is_answered(script, page):
    script.stack.begin_anew(pace=0.01)  # it does not arrive within this test
    with page.open("state") as socket:
        state = StateReader(socket)
        assert state.request("directive", text="which chair")["ok"]
        state.until(lambda s: s.parts["directive"]["question"])
        question = state.parts["directive"]["question"]
        assert state.request("answer", question=question["id"], choice=2)["ok"]
        state.until(lambda s: s.parts["directive"]["running"])
        assert state.request("cancel")["ok"]


def test_pages_share_what_happens_and_one_commands_at_a_time(script):
    first, second = PageClient(script.console.link()), PageClient(script.console.link())
    with first.open("state") as one, second.open("state") as other:
        one, other = StateReader(one), StateReader(other)
        one.until(lambda s: len(s.parts.get("operators", {}).get("people", [])) == 2)
        assert one.request("lease", action="take")["ok"]
        refused = other.request("directive", text="find the sofa")
        assert not refused["ok"] and refused["code"] == "no_lease" and one.hello["name"] in refused["text"]
        for kind, fields in {
            "correct": {"text": "the door is open"}, "undo": {"entry": 1}, "name_room": {"room": 1, "name": "x"},
            "close_way": {"start": (1, 1), "end": (2, 1), "open": True}, "zone": {"outline": []},
            "resume": {"numbers": [1]},
            "point_out": {"x": 1, "y": 1}, "answer": {"question": "q", "choice": 1},
            "memory_pin": {"memory": "1"}, "memory_correct": {"memory": "1", "text": "x"},
            "memory_forget": {"memories": ["1"], "expected": 1},
        }.items():  # fmt: skip
            told = other.request(kind, **fields)
            assert not told["ok"] and told["code"] == "no_lease", kind
        assert other.request("ask", text="where is the sofa?")["ok"]
        script.stack.place("hold", "Bob")
        assert one.resume()["ok"], "who commands releases a stop"
        assert one.request("lease", action="release")["ok"]
        assert other.request("directive", text="find the sofa")["ok"]
        one.until(lambda s: s.parts["directive"]["by"] == other.hello["name"])
        other.request("cancel")
        other.request("lease", action="release")


def test_who_may_only_look_may_stop_and_ask_and_nothing_else(script):
    page = PageClient(script.console.link("look"))
    with page.open("state") as socket, page.open("stop") as stop:
        state = StateReader(socket)
        for kind, fields in {
            "directive": {"text": "find the sofa"}, "resume": {}, "cancel": {}, "lease": {"action": "take"},
            "correct": {"text": "it is gone", "entity": 1}, "undo": {"entry": 1}, "point_out": {"x": 0, "y": 0},
            "zone": {"outline": []},
            "memory_forget": {"text": "chair"}, "name_room": {"room": 1, "name": "x"}, "offer": {"agent": "a"},
        }.items():  # fmt: skip
            reply = state.request(kind, **fields)
            assert not reply["ok"] and "role is look" in reply["text"], kind
        assert state.request("ask", text="where is the sofa?")["ok"]
        assert state.request("directive", text="find the sofa", dry_run=True)["ok"]
        stop.send('{"stop": true}')
        assert json.loads(stop.recv(timeout=PATIENCE))["stop"] == "sent"
        assert page.get("/pictures", "POST", {"origin": page.origin}, b"\xff\xd8\xff").status == 403
    command = PageClient(script.console.link())
    with command.open("state") as socket:
        StateReader(socket).resume()


def test_a_resume_releases_the_numbers_that_the_page_showed_and_nothing_without_one(script):
    page, other = PageClient(script.console.link()), PageClient(script.console.link())
    with page.open("state") as socket, other.open("stop") as stop:
        state = StateReader(socket)
        script.stack.place("pause", "goal_selector/pause")
        holds = lambda s: s.parts.get("robot", {}).get("holds", ())  # noqa: E731
        state.until(lambda s: [one["kind"] for one in holds(s)] == ["pause"])
        (pause,) = state.parts["robot"]["holds"]
        assert pause["who"] == "goal_selector/pause"
        assert not state.parts["robot"]["held"]
        for numbers in ({}, {"numbers": []}, {"numbers": [0]}, {"numbers": [-1]}, {"numbers": [2**64]}):
            told = state.request("resume", **numbers)
            assert not told["ok"] and told["code"] == "refused" and "by their numbers" in told["text"]
        stop.send('{"stop": true}')  # the page has not heard of it
        assert [json.loads(stop.recv(timeout=PATIENCE))["stop"] for _ in range(2)] == ["sent", "held"]
        told = state.request("resume", numbers=[pause["number"]])
        assert not told["ok"] and told["code"] == "still_held"
        state.until(lambda s: [one["kind"] for one in s.parts["robot"]["holds"]] == ["hold"])
        assert state.parts["robot"]["holds"][0]["who"].startswith("operator")
        assert state.resume()["ok"]


def test_a_picture_is_uploaded_once_and_bounded(page):
    headers = {"origin": page.origin}
    answer = page.get("/pictures", "POST", headers, b"\xff\xd8\xff" + bytes(1000))
    assert answer.status == 200 and json.loads(answer.text)["picture"]
    assert page.get("/pictures", "POST", headers, b"<svg>").status == 415
    assert page.get("/pictures", "POST", headers | {"content-length": str(20 << 20)}, b"").status == 413


def test_a_page_that_comes_back_sees_everything_again(page):
    with page.open("state") as socket:
        first = StateReader(socket)
        first.until(lambda s: "entities" in s.items)
    with page.open("state") as socket:
        again = StateReader(socket)
        again.until(lambda s: "entities" in s.items and "robot" in s.parts)
        assert again.items["entities"].keys() == first.items["entities"].keys()
        assert again.hello["session"] == first.hello["session"]
        assert again.request("memory_search", text="sofa")["value"]["memories"]
        socket.send('{"type": "resync", "id": 5, "name": "entities"}')
        again.items.clear()
        again.until(lambda s: len(s.items.get("entities", {})) == 6)


def test_a_directive_of_20_kb_is_refused_with_a_sentence_and_the_page_stays(page):
    with page.open("state") as socket:
        state = StateReader(socket)
        reply = state.request("directive", text="find " + "x" * 20_000)
        assert not reply["ok"] and "2000" in reply["text"]
        socket.send("no json")
        state.until(lambda s: 0 in s.replies)
        assert state.request("ask", text="where is the sofa?")["ok"]


def test_a_zone_is_seen_by_every_page_and_can_be_undone(page):
    with page.open("state") as socket:
        state = StateReader(socket)
        corners = [[6.0, 1.0], [7.0, 1.0], [7.0, 2.0]]
        told = state.request("zone", outline=corners, text="wet paint")
        assert told["ok"]
        state.until(lambda s: any(zone["text"] == "wet paint" and zone["laid"] for zone in s.parts["zones"]))
        said = "The area is closed (wet paint)."
        state.until(lambda s: any(row["text"] == said for row in s.items.get("beliefs", {}).values()))
        entry = next(row["entry"] for row in state.items["beliefs"].values() if row["text"] == said)
        assert state.request("undo", entry=entry)["ok"]
        state.until(lambda s: not any(zone["text"] == "wet paint" for zone in s.parts["zones"]))
        assert not state.request("zone", outline=corners, remove=True)["ok"]
        crossed = state.request("zone", outline=[[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]])
        assert not crossed["ok"] and "crosses itself" in crossed["text"]


def test_stop_as_a_request_of_its_own_needs_a_session_and_an_origin(script, page):
    before = script.stack.stops
    answer = page.get("/stop", "POST", {"origin": page.origin})
    assert (
        answer.status == 200
        and json.loads(answer.text)["stop"] == "held"
        and script.stack.stops == before + 1
    )
    for headers in ({}, {"origin": "http://evil.example"}):
        assert page.get("/stop", "POST", headers).status in (401, 403)
    assert script.stack.stops == before + 1
    with page.open("stop") as stop:
        stop.send('{"stop": false}')
        assert json.loads(stop.recv(timeout=PATIENCE))["stop"] == "ready" and script.stack.stops == before + 1
