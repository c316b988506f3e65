"""Token counts as ADK gives them, in the spelling of each front end.

ADK counts thinking beside the answer, the others as a part of it.
"""

from typing import Any, NamedTuple


class _Tokens(NamedTuple):
    prompt: int
    answer: int
    total: int
    thinking: int
    cached: int


def agui_usage(usage: dict[str, int]) -> list[dict[str, int]]:
    tokens = _tokens(usage)
    counted = {
        "inputTokens": tokens.prompt,
        "outputTokens": tokens.answer,
        "totalTokens": tokens.total,
    }
    if tokens.thinking:
        counted["reasoningTokens"] = tokens.thinking
    if tokens.cached:
        counted["cachedInputTokens"] = tokens.cached
    return [counted]


def chat_usage(usage: dict[str, int]) -> dict[str, Any]:
    tokens = _tokens(usage)
    return {
        "prompt_tokens": tokens.prompt,
        "completion_tokens": tokens.answer,
        "total_tokens": tokens.total,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.thinking},
    }


def responses_usage(usage: dict[str, int]) -> dict[str, Any]:
    tokens = _tokens(usage)
    # openai 3.x requires cache_write_tokens, 2.x accepts it.
    return {
        "input_tokens": tokens.prompt,
        "input_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": 0},
        "output_tokens": tokens.answer,
        "output_tokens_details": {"reasoning_tokens": tokens.thinking},
        "total_tokens": tokens.total,
    }


def _tokens(usage: dict[str, int]) -> _Tokens:
    thinking = usage.get("thoughts_token_count", 0)
    prompt = usage.get("prompt_token_count", 0) + usage.get("tool_use_prompt_token_count", 0)
    answer = usage.get("candidates_token_count", 0) + thinking
    return _Tokens(
        prompt=prompt,
        answer=answer,
        total=usage.get("total_token_count") or prompt + answer,
        thinking=thinking,
        cached=usage.get("cached_content_token_count", 0),
    )
