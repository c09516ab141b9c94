"""Two runs never share a domain."""

from __future__ import annotations

import socket

import pytest

from lodestar_bringup import domains


def test_claims_differ_and_end(monkeypatch):
    monkeypatch.setattr(domains, "_LAST", domains._FIRST + 2)
    with domains.free_domain() as first, domains.free_domain() as second:
        assert first != second
        with pytest.raises(domains.NoFreeDomain, match="end other runs"), domains.free_domain():
            pass
    with domains.free_domain() as again:
        assert again in (first, second)


def test_a_domain_with_a_participant_is_not_taken(monkeypatch):
    monkeypatch.setattr(domains, "_FIRST", 90)
    monkeypatch.setattr(domains, "_LAST", 92)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as participant:
        participant.bind(("0.0.0.0", 7410 + 250 * 90))
        with domains.free_domain() as domain:
            assert domain == 91
