"""Token counts as ADK gives them, in the spelling of each front end.

ADK counts thinking beside the answer, the others as a part of it.
"""

from typing import Any


def agui_usage(usage: dict[str, int]) -> list[dict[str, int]]:
    counted = {
        "inputTokens": _prompt(usage),
        "outputTokens": _answer(usage),
        "totalTokens": _total(usage),
    }
    if thinking := _thinking(usage):
        counted["reasoningTokens"] = thinking
    if cached := _cached(usage):
        counted["cachedInputTokens"] = cached
    return [counted]


def chat_usage(usage: dict[str, int]) -> dict[str, Any]:
    return {
        "prompt_tokens": _prompt(usage),
        "completion_tokens": _answer(usage),
        "total_tokens": _total(usage),
        "prompt_tokens_details": {"cached_tokens": _cached(usage)},
        "completion_tokens_details": {"reasoning_tokens": _thinking(usage)},
    }


def responses_usage(usage: dict[str, int]) -> dict[str, Any]:
    # openai 3.x has cache_write_tokens as a required field, 2.x lets it pass.
    return {
        "input_tokens": _prompt(usage),
        "input_tokens_details": {"cached_tokens": _cached(usage), "cache_write_tokens": 0},
        "output_tokens": _answer(usage),
        "output_tokens_details": {"reasoning_tokens": _thinking(usage)},
        "total_tokens": _total(usage),
    }


def _prompt(usage: dict[str, int]) -> int:
    tools = usage.get("tool_use_prompt_token_count", 0)
    return usage.get("prompt_token_count", 0) + tools


def _answer(usage: dict[str, int]) -> int:
    return usage.get("candidates_token_count", 0) + _thinking(usage)


def _total(usage: dict[str, int]) -> int:
    return usage.get("total_token_count") or _prompt(usage) + _answer(usage)


def _thinking(usage: dict[str, int]) -> int:
    return usage.get("thoughts_token_count", 0)


def _cached(usage: dict[str, int]) -> int:
    return usage.get("cached_content_token_count", 0)
