"""Names under which the console may be called, so that no foreign page and no rebound name reaches it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def is_loopback(address: str) -> bool:
    """Return whether an address to bind to is this machine's own."""
    if address.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


class Origins:
    """Checks Host, Origin and Sec-Fetch-Site. names: under which others reach a console beyond loopback."""

    def __init__(self, port: int, names: tuple[str, ...] = (), *, secure: bool = False) -> None:
        self.port, self.secure = port, secure
        scheme, usual = ("https", 443) if secure else ("http", 80)
        hosts = {f"{name}:{port}" for name in (*LOOPBACK, *names)}
        if port == usual:
            hosts |= {*LOOPBACK, *names}
        self.hosts = frozenset(host.lower() for host in hosts)
        self.origins = frozenset(f"{scheme}://{host}" for host in self.hosts)

    def host_problem(self, headers: Mapping[str, str]) -> str:
        """Return why a request's Host is not accepted, "" where it is."""
        host = headers.get("host", "").lower()
        return (
            ""
            if host in self.hosts
            else "This name is not one of the console's; see the parameter host_names."
        )

    def origin_problem(self, headers: Mapping[str, str], *, required: bool) -> str:
        """Return why a request's origin is not accepted, "" where it is. required: for what changes or listens."""
        origin = headers.get("origin", "").lower()
        if origin and origin not in self.origins:
            return "Another page may not call the console."
        if not origin and required:
            return "The request names no Origin."
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "Another page may not call the console."
        return ""
