"""Several agents in one app, with a page that lists them."""

import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from string import Template
from types import MappingProxyType

from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from aion_adk.card import Servable
from aion_adk.server.app import A2AApp
from aion_adk.server.build import app_of
from aion_adk.server.card_routes import base_url_of, public_base_url
from aion_adk.server.options import ServerOptions

_PAGE = Template(Path(__file__).with_name("directory.html").read_text())
_SECURITY = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
    "Vary": "Accept",
}


@dataclass(frozen=True)
class Listing:
    """An agent and the path it is served under; an empty path is the root."""

    name: str
    path: str
    app: A2AApp

    def url(self, base_url: str) -> str:
        return f"{base_url}{self.path}"


class Directory(Starlette):
    """Serves agents under their paths and lists them at the root, as a page or as JSON."""

    def __init__(self, listings: Sequence[Listing], options: ServerOptions) -> None:
        routes: list[BaseRoute] = [Route("/", self._index, methods=["GET"])]
        for listing in listings:
            mounts = listing.app.mounted(listing.path) if listing.path else [Mount("", listing.app)]
            routes += mounts
        super().__init__(routes=routes, lifespan=lambda _: self._running())
        self.router.redirect_slashes = False
        self.listings = listings
        self.options = options

    async def _index(self, request: Request) -> Response:
        if self.options.public_url:
            base_url = public_base_url(self.options.public_url)
        else:
            base_url = base_url_of(request, self.options)
        if _prefers_json(request.headers.get("accept", "")):
            return JSONResponse(listing_json(self.listings, base_url), headers=_SECURITY)
        return HTMLResponse(listing_page(self.listings, base_url), headers=_SECURITY)

    @contextlib.asynccontextmanager
    async def _running(self) -> AsyncGenerator[None, None]:
        async with contextlib.AsyncExitStack() as stack:
            for listing in self.listings:
                await stack.enter_async_context(listing.app.running())
            yield


def directory_of(
    agents: Mapping[str, Servable],
    options: ServerOptions,
    *,
    several: bool = True,
    own_options: Mapping[str, ServerOptions] = MappingProxyType({}),
) -> Directory:
    """Each agent under `/a2a/<name>`; a single one at the root when not `several`.

    An agent's `own_options` apply where `options` have their defaults.
    """
    if options.grpc_port and len(agents) > 1:
        raise ValueError("grpc_port is the port of one agent; 0 gives each a free one")
    listings: list[Listing] = []
    for name, agent in agents.items():
        path = f"/a2a/{name}" if several else ""
        merged = options.overriding(own_options.get(name, options))
        if merged.public_url:
            merged = replace(merged, public_url=f"{public_base_url(merged.public_url)}{path}")
        listings.append(Listing(name, path, app_of(agent, merged)))
    return Directory(listings, options)


def listing_json(listings: Sequence[Listing], base_url: str) -> dict[str, object]:
    return {
        "agents": [
            {
                "name": listing.name,
                "description": listing.app.card.description,
                "url": listing.url(base_url),
                "card": f"{listing.url(base_url)}{AGENT_CARD_WELL_KNOWN_PATH}",
            }
            for listing in listings
        ]
    }


def listing_page(listings: Sequence[Listing], base_url: str) -> str:
    count = "1 agent" if len(listings) == 1 else f"{len(listings)} agents"
    items: list[str] = []
    for listing in listings:
        url, card = escape(listing.url(base_url)), listing.app.card
        skills = "".join(
            f'<li title="{escape(skill.description)}">{escape(skill.name)}</li>'
            for skill in card.skills[1:]
        )
        items.append(
            f"<article><h2>{escape(listing.name)}</h2><p>{escape(card.description)}</p>"
            + (f"<ul>{skills}</ul>" if skills else "")
            + f'<p><a href="{url}{AGENT_CARD_WELL_KNOWN_PATH}">Agent card</a></p>'
            f"<pre>aion-adk send {url} &quot;hello&quot;</pre></article>"
        )
    return _PAGE.substitute(count=count, base_url=escape(base_url), items="\n".join(items))


def _prefers_json(accept: str) -> bool:
    """Whether JSON is named and HTML is not, or only after it."""
    json_at, html_at = accept.find("application/json"), accept.find("text/html")
    return json_at >= 0 and (html_at < 0 or json_at < html_at)
