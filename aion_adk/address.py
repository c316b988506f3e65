"""The addresses by which clients reach a server."""

import ipaddress
from functools import lru_cache
from urllib.parse import urlsplit, urlunsplit

from starlette.requests import Request

_LOOPBACK = {4: "127.0.0.1", 6: "[::1]"}


def base_url_of(request: Request, *, trust_proxy_headers: bool = False) -> str:
    """Scheme, host and mount prefix of a request, without a slash at the end."""
    scheme, host = request.url.scheme, request.url.netloc
    # Not `base_url`: that is the outermost app's, without the prefixes of the mounts in it.
    prefix = request.scope.get("root_path", "")
    if trust_proxy_headers:
        scheme = _first(request, "x-forwarded-proto") or scheme
        host = _first(request, "x-forwarded-host") or host
        prefix = f"{_first(request, 'x-forwarded-prefix').rstrip('/')}/{prefix.lstrip('/')}"
    return reachable(urlunsplit((scheme, host, prefix, "", "")))


def public_base_url(public_url: str) -> str:
    """`public_url` without a slash at the end; a ValueError if no client could connect to it."""
    parts = urlsplit(public_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"public_url must be an http or https URL with a host, got {public_url!r}")
    if _unspecified(parts.hostname):
        raise ValueError(f"public_url must be an address that clients can use, got {public_url!r}")
    return public_url.rstrip("/")


@lru_cache(maxsize=256)
def reachable(url: str) -> str:
    """`url`, with the loopback address in place of 0.0.0.0 or [::]."""
    parts = urlsplit(url)
    version = _unspecified(parts.hostname or "")
    if version:
        port = f":{parts.port}" if parts.port else ""
        parts = parts._replace(netloc=f"{_LOOPBACK[version]}{port}")
    return urlunsplit(parts).rstrip("/")


def host_and_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _unspecified(host: str) -> int | None:
    """The IP version if `host` is 0.0.0.0 or [::], which mean every interface."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return address.version if address.is_unspecified else None


def _first(request: Request, header: str) -> str:
    """The value that the outermost proxy set."""
    return request.headers.get(header, "").split(",")[0].strip()
