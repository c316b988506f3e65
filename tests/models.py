"""A model that answers from a script, for tests with a real `LlmAgent`."""

from collections.abc import AsyncGenerator

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr


class ScriptedModel(BaseLlm):
    """Answers each call with the next step: partial responses first when it streams."""

    model: str = "scripted"
    steps: list[list[types.Part]]
    usage: types.GenerateContentResponseUsageMetadata | None = None
    finish_reason: types.FinishReason | None = None
    _requests: list[LlmRequest] = PrivateAttr(default_factory=list[LlmRequest])

    @property
    def requests(self) -> list[LlmRequest]:
        return self._requests

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = self.steps[min(len(self._requests), len(self.steps) - 1)]
        self._requests.append(llm_request)
        if stream:
            for part in parts:
                for piece in _pieces(part):
                    yield LlmResponse(content=_content([piece]), partial=True)
        yield LlmResponse(
            content=_content(parts), usage_metadata=self.usage, finish_reason=self.finish_reason
        )


def text(value: str, *, thought: bool = False) -> types.Part:
    return types.Part(text=value, thought=thought or None)


def call(name: str, *, call_id: str, **args: object) -> types.Part:
    return types.Part(function_call=types.FunctionCall(id=call_id, name=name, args=args))


def _pieces(part: types.Part) -> list[types.Part]:
    if not part.text:
        return []
    half = len(part.text) // 2
    halves = (part.text[:half], part.text[half:])
    return [types.Part(text=piece, thought=part.thought) for piece in halves if piece]


def _content(parts: list[types.Part]) -> types.Content:
    return types.Content(role="model", parts=parts)
