"""Check of the host names of requests, against foreign pages and DNS rebinding."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def is_loopback(address: str) -> bool:
    """Return whether an address to bind to is a loopback address."""
    if address.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


class Origins:
    """Check Host, Origin and Sec-Fetch-Site of requests. names: host names allowed in addition to loopback."""

    def __init__(self, port: int, names: tuple[str, ...] = (), *, secure: bool = False) -> None:
        self.port, self.secure = port, secure
        scheme, usual = ("https", 443) if secure else ("http", 80)
        hosts = {f"{name}:{port}" for name in (*LOOPBACK, *names)}
        if port == usual:
            hosts |= {*LOOPBACK, *names}
        self.hosts = frozenset(host.lower() for host in hosts)
        self.origins = frozenset(f"{scheme}://{host}" for host in self.hosts)

    def host_problem(self, headers: Mapping[str, str]) -> str:
        """Return the reason to reject a request's Host header, "" = accepted."""
        host = headers.get("host", "").lower()
        return (
            ""
            if host in self.hosts
            else "This name is not one of the console's; see the parameter host_names."
        )

    def origin_problem(self, headers: Mapping[str, str], *, required: bool) -> str:
        """Return the reason to reject a request's origin, "" = accepted.

        required: whether Origin must be present, as for sockets and state-changing requests.
        """
        origin = headers.get("origin", "").lower()
        if origin and origin not in self.origins:
            return "Another page may not call the console."
        if not origin and required:
            return "The request names no Origin."
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "Another page may not call the console."
        return ""
