"""Who calls a front end is who the same headers name on the A2A routes."""

from collections.abc import AsyncGenerator, Mapping

import httpx
import pytest
from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event
from openai import AsyncOpenAI, AuthenticationError, NotFoundError

from tests.agents import text_event
from tests.front_ends.calling import agui_events, run_input
from tests.serving import serving


class Doorman(BaseAgent):
    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield text_event(self, ctx, f"Hello {ctx.user_id}.")


def by_key(headers: Mapping[str, str]) -> str | None:
    return {"Bearer key-a": "alice", "Bearer key-b": "bob"}.get(headers.get("authorization", ""))


def client_with(url: str, key: str) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)


async def test_a_caller_is_known_by_the_key_and_owns_its_responses() -> None:
    async with (
        serving(Doorman(name="doorman"), openai=True, authenticate=by_key) as url,
        client_with(url, "key-a") as alice,
        client_with(url, "key-b") as bob,
    ):
        response = await alice.responses.create(model="doorman", input="hi")
        with pytest.raises(NotFoundError):
            await bob.responses.retrieve(response.id)
    assert response.output_text == "Hello alice."


async def test_a_caller_without_a_key_is_refused_in_the_words_of_the_protocol() -> None:
    doorman = Doorman(name="doorman")
    async with serving(doorman, openai=True, agui=True, authenticate=by_key) as url:
        async with client_with(url, "nobody") as nobody:
            with pytest.raises(AuthenticationError) as error:
                await nobody.responses.create(model="doorman", input="hi")
        async with httpx.AsyncClient() as http:
            refused = await http.post(f"{url}/agui", json=run_input("hi"))
    assert (error.value.code, error.value.type) == ("invalid_api_key", "invalid_request_error")
    assert refused.status_code == 401
    assert refused.json()["error"]["message"]


async def test_without_authentication_a_thread_has_a_user_of_its_own() -> None:
    """A6"""
    async with serving(Doorman(name="doorman"), agui=True) as url:
        events = await agui_events(url, run_input("hi"))
    assert events[3]["delta"] == "Hello A2A_USER_thread."
