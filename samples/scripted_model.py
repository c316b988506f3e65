"""A local model for the samples: it follows a script, streams its words and calls tools.

It stands in for a real one where no key is set. A script is a function from the request to
what the model does: some text, or a call of a tool.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

Script = Callable[[LlmRequest], "str | types.FunctionCall"]

SECONDS_A_WORD = 0.02


class ScriptedLlm(BaseLlm):
    model: str = "scripted"
    script: Script

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        answer = self.script(llm_request)
        if isinstance(answer, types.FunctionCall):
            yield _response(types.Part(function_call=answer))
            return
        if stream:
            for word in re.findall(r"\s*\S+", answer):
                yield _response(types.Part(text=word), partial=True)
                await asyncio.sleep(SECONDS_A_WORD)
        yield _response(types.Part(text=answer))


def last_text(request: LlmRequest) -> str:
    """The last text of the user."""
    for content in reversed(request.contents):
        if content.role == "user" and (text := "".join(p.text or "" for p in content.parts or [])):
            return text
    return ""


def tool_result(request: LlmRequest, tool: str) -> dict[str, object] | None:
    """What `tool` returned, if the last thing in the request is its response."""
    parts = request.contents[-1].parts if request.contents else None
    for part in parts or []:
        if part.function_response and part.function_response.name == tool:
            return part.function_response.response or {}
    return None


def _response(part: types.Part, *, partial: bool = False) -> LlmResponse:
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=0, candidates_token_count=0, total_token_count=0
    )
    content = types.Content(role="model", parts=[part])
    return LlmResponse(content=content, partial=partial, usage_metadata=usage)
