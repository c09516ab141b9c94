"""Traces are JSON lines that read as the same traces; what breaks the schema is refused and named."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_builders import trace_to

from lodestar.worldmodel.records import Action, Belief, Expectation, Phase, Skill
from lodestar.worldmodel.trace_json import BadTrace, trace_from_dict, trace_to_dict

pytest.importorskip("jsonschema")

_NAMES = st.sampled_from(["entity:1", "entity:20", "region:3", "robot"])
_BELIEFS = st.lists(
    st.builds(Belief, st.sampled_from(["On", "Near"]), st.tuples(_NAMES, _NAMES), st.booleans()), max_size=5
).map(tuple)
_NUMBERS = st.floats(-1e6, 1e6)


@given(
    beliefs=_BELIEFS,
    goal=st.none() | st.tuples(_NUMBERS, _NUMBERS, _NUMBERS),
    by=_NUMBERS | st.just(math.inf),
    confidence=st.floats(0.0, 1.0),
    reason=st.text(max_size=200),
)
def test_a_trace_reads_as_the_same(beliefs, goal, by, confidence, reason):
    action = Action(Skill.SEARCH, ("entity:2",), None if goal is None else np.array(goal))
    expectation = Expectation(Phase.EXPLORING, "region:3", beliefs, (2,), by)
    trace = trace_to(
        action=action, expectation=expectation, beliefs=beliefs, confidence=confidence, reason=reason
    )
    record = json.loads(json.dumps(trace_to_dict(trace), allow_nan=False))
    again = trace_from_dict(record)
    assert trace_to_dict(again) == trace_to_dict(trace)
    assert (again.beliefs, again.expectation) == (trace.beliefs, trace.expectation)


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        ((), {"mischief": 1}, "mischief"),
        (("action",), {"skill": "Explode"}, "action/skill"),
        (("action",), {"goal": [1.0, 2.0]}, "action/goal"),
        (("confidence",), 1.2, "confidence"),
        (("confidence",), "high", "confidence"),
        (("confidence",), math.nan, "finite"),
        (("stamp",), math.inf, "finite"),
        (("beliefs",), [{"predicate": "On", "arguments": ["entity:1"] * 5}], "beliefs/0/arguments"),
        (("beliefs",), [{"predicate": "On", "arguments": []}] * 200, "beliefs"),
        (("beliefs",), None, "beliefs"),
        (("expectation",), {"phase": "DANCING"}, "expectation/phase"),
        (("reason",), "x" * 3000, "reason"),
    ],
)
def test_what_breaks_the_schema_is_refused_and_named(path, value, where):
    record = trace_to_dict(trace_to())
    if path and isinstance(value, dict):
        record[path[0]] = {**record[path[0]], **value}
    elif path:
        record[path[0]] = value
    else:
        record |= value
    with pytest.raises(BadTrace, match=where):
        trace_from_dict(record)


@pytest.mark.parametrize("record", [None, [], "GoTo(entity:1)", {}, {"kind": "trace"}])
def test_what_is_no_trace_at_all_is_refused(record):
    with pytest.raises(BadTrace):
        trace_from_dict(record)
