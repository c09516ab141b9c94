"""Tests of the protocol: validation of page messages, and agreement of the page's types with the server's."""

import msgspec
import pytest

from lodestar_console import protocol, typescript


def test_the_types_of_the_page_are_those_of_the_server():
    assert typescript.TARGET.read_text() == typescript.typescript()


def test_a_part_is_one_message_with_its_value():
    text = protocol.part("robot", 3, protocol.Robot(pose=(1.0, 2.0, 0.0, 0.5)))
    message = msgspec.json.decode(text)
    assert message["type"] == "part" and message["name"] == "robot" and message["revision"] == 3
    assert message["value"]["pose"] == [1.0, 2.0, 0.0, 0.5]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"type": "drive", "id": 1}',
        '{"type": "ping"}',
        '{"type": "ping", "id": "1"}',
        '{"type": "directive", "id": 1, "text": 5}',
        '{"type": "directive", "id": 1, "text": "go", "velocity": 3}',
        '{"type": "lease", "id": 1, "action": "steal"}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_message_of_a_page_is_refused_with_a_sentence(text):
    with pytest.raises(msgspec.DecodeError) as refusal:  # base class of ValidationError
        protocol.page_message(text)
    assert str(refusal.value)


def test_a_number_that_is_none_is_null():
    assert b"null" in protocol.encode(protocol.Robot(speed=float("nan")))
