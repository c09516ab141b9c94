"""The package index as pip and uv are told of it, and one sentence for a network that does not reach it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Mapping
from urllib.parse import urlsplit

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


def pip_settings(python: str) -> dict[str, str]:
    """Return pip's configuration, of its files and of the environment: option -> value."""
    done = subprocess.run(
        [python, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    )
    found: dict[str, dict[str, str]] = {"global": {}, "install": {}, ":env:": {}}
    for line in done.stdout.splitlines():
        match = re.match(r"(global|install|:env:)\.([a-z-]+)=('.*'|\".*\")$", line)
        if match:
            found[match[1]][match[2]] = ast.literal_eval(match[3])
    return {name: value for section in found.values() for name, value in section.items()}


def uv_environment(settings: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which uv looks where pip would: a mirror of pip.conf serves both.

    Several indexes are searched as pip searches them, for the newest version of all.
    """
    own = {name for name in OWN if environment.get(name)}
    told = {
        variable: " ".join(settings[option].split())
        for option, variable in TO_UV.items()
        if settings.get(option) and not environment.get(variable) and not own
    }
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **environment, **told}


def pip_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which pip looks where uv is told to look, for the step that brings uv."""
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
_FULL = re.compile(r"No space left on device|Disk quota exceeded")


def network_trouble(text: str) -> str:
    """Return the one sentence for a network, an index or a disk that failed in a program's words; "" for others."""
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


def no_index_answers(text: str) -> str:
    """Return the sentence for a network trouble where pip -vv, which failed, was answered by no index; else "".

    An index that answers and lacks a package serves others.
    """
    answered = re.search(r"Fetched page http|404 Client Error", text)
    return "" if answered else network_trouble(text)


def proxy_in_use(environment: Mapping[str, str] = os.environ) -> str:
    """Return the variable that names a proxy and its address without password; "" where none does."""
    for name in PROXIES:
        if environment.get(name):
            parts = urlsplit(environment[name])
            return f"{name} ({parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''})"
    return ""
