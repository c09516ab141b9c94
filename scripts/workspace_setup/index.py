"""Settings of the package index for pip and uv, and one-sentence diagnoses of network errors."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Mapping, Sequence

#: pip's option, and the variable of uv that says the same.
TO_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "constraint": "UV_CONSTRAINT",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
#: Where one of these is given, uv has been told of an index, and pip's settings are not added to it.
OWN = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_CONFIG_FILE",
)
PROXIES = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "PIP_PROXY")


def pip_settings(pip: Sequence[str]) -> dict[str, str]:
    """Return the configuration of a pip command, from files and environment variables: option -> value."""
    done = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=False)
    found: dict[str, dict[str, str]] = {"global": {}, "install": {}, ":env:": {}}
    for line in done.stdout.splitlines():
        match = re.match(r"(global|install|:env:)\.([a-z-]+)=('.*'|\".*\")$", line)
        if match:
            found[match[1]][match[2]] = ast.literal_eval(match[3])
    return {name: value for section in found.values() for name, value in section.items()}


def uv_environment(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables with which uv uses the same package indexes as pip, such as a mirror in
    pip.conf.

    As with pip, the newest version of all indexes is taken. settings: pip's, see `pip_settings`.
    """
    own = {name for name in OWN if environment.get(name)}
    told = {
        variable: " ".join(settings[option].split())
        for option, variable in TO_UV.items()
        if settings.get(option) and not environment.get(variable) and not own
    }
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **environment, **told}


def pip_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables with which pip uses the package indexes set for uv, to install uv
    itself.
    """
    index = environment.get("UV_DEFAULT_INDEX") or environment.get("UV_INDEX_URL")
    extra = environment.get("UV_INDEX") or environment.get("UV_EXTRA_INDEX_URL")
    told = {
        "PIP_INDEX_URL": index,
        "PIP_EXTRA_INDEX_URL": extra,
        "PIP_FIND_LINKS": environment.get("UV_FIND_LINKS"),
    }
    return {**{name: value for name, value in told.items() if value}, **environment}


_STATUS = re.compile(r"\b(?:40[137]|50[234])\b(?: (?:Client Error|[A-Z][a-z]+(?: [A-Z][a-z]+)*))?")
_PROXY = re.compile(
    r"[Tt]unnel connection failed|ProxyError|tunnel error|[Pp]roxy (connect|authentication)|connect to proxy|"
    r"Invalid response from proxy"
)
_CERTIFICATE = re.compile(r"CERTIFICATE_VERIFY_FAILED|invalid peer certificate|certificate verify failed")
_ANSWER = re.compile(
    r"HTTP error|Client Error|Server Error|status code|[Ff]ailed to fetch|^Err:\d", re.MULTILINE
)
_UNREACHED = re.compile(
    r"Name or service not known|Temporary failure (in name resolution|resolving)|Network is unreachable|"
    r"Connection refused|ConnectTimeout|timed out|NewConnectionError|dns error|Could not resolve|No route to host"
)
_PLACE = re.compile(r"^ *File .*, line \d+.*$", re.MULTILINE)  # of a traceback: its number is no status
_FULL = re.compile(r"No space left on device|Disk quota exceeded")


def network_trouble(text: str) -> str:
    """Return one sentence that explains a network, package index or disk error in a program's output; "" if
    the output shows no such error.
    """
    text = _PLACE.sub("", text)
    found = _STATUS.search(text)
    status, proxy = (found[0] if found else ""), proxy_in_use()
    if _FULL.search(text):
        return "the disk is full: free some, then run this again"
    if _PROXY.search(text):
        return (
            f"the proxy of {proxy or 'pip.conf'} refuses the package index{status and f' ({status})'}: ask its owner "
            "for access, correct or unset the variable, or name an index inside the network in PIP_INDEX_URL"
        )
    if _CERTIFICATE.search(text):
        return "the package index's certificate is not trusted here: name your network's, a PEM file, in PIP_CERT"
    if status and _ANSWER.search(text):
        return (
            f"the package index answers {status}{proxy and f' through the proxy of {proxy}'}: check its address and "
            "password (PIP_INDEX_URL, pip.conf; for apt /etc/apt)"
        )
    if _UNREACHED.search(text):
        return (
            "the package index is not reached: check the network, set HTTPS_PROXY where there is a proxy, or name an "
            "index inside the network in PIP_INDEX_URL"
        )
    return ""


def proxy_in_use(environment: Mapping[str, str] = os.environ) -> str:
    """Return the environment variable that sets a proxy, with the address but no password; "" if none is
    set.
    """
    for name in PROXIES:
        if environment.get(name):
            scheme, there, rest = environment[name].partition("://")
            address = (rest if there else scheme).rpartition("@")[2]  # a password may hold any character
            return f"{name} ({scheme if there else 'http'}://{re.split('[/?#]', address)[0]})"
    return ""
