"""Amendments and outcomes as versions up to 0.3 wrote them, made those of today: JSON values to JSON values."""

from __future__ import annotations

from typing import Any

Values = dict[str, Any]

_BELIEF = ("predicate", "arguments", "negated")
_WAY = ("start", "end", "expires", "cause", "seen_free_opens", "area", "floor")
_STATE = ("phase", "about")


def way_of_list(values: list[Any]) -> Values:
    """Return a closed way of a list of its values, as in the file of a saved map."""
    return dict(zip(_WAY, values))


def line_of_1(line: Values) -> Values:
    """Return a line of a journal, or an outcome, whose amendments had their beliefs and closed ways as lists."""
    lists = {
        name: [_amendment(one) for one in line[name]] for name in ("amendments", "inverse") if name in line
    }
    return line | lists


def outcome_of_1(values: Values) -> Values:
    """Return an outcome whose diagnosis had the discrepancy in itself, and its causes by name, in no order."""
    found = values["diagnosis"]
    if found is None:
        return line_of_1(values)
    discrepancy = {
        "expected": dict(zip(_STATE, found["expected"])),
        "actual": dict(zip(_STATE, found["actual"])),
        "missing": [dict(zip(_BELIEF, one)) for one in found["missing"]],
        "unexpected": [dict(zip(_BELIEF, one)) for one in found["unexpected"]],
        "drifts": found["drifts"],
    }
    causes = [
        {"cause": name, "probability": share}
        for name, share in sorted(found["causes"].items(), key=lambda one: -one[1])
    ]
    diagnosis = {**found, "discrepancy": discrepancy, "causes": causes}
    return line_of_1(values | {"diagnosis": diagnosis})


def _amendment(values: Values) -> Values:
    made = dict(values)
    if made.get("belief") is not None:
        made["belief"] = dict(zip(_BELIEF, made["belief"]))
    if made.get("way") is not None:
        made["way"] = way_of_list(made["way"])
    return made
