"""What an agent can do, as AG-UI clients ask for it."""

from typing import Any

from a2a.types import AgentCard


def capabilities_of(card: AgentCard) -> dict[str, Any]:
    modes = set(card.default_input_modes)
    return {
        "identity": {
            "name": card.name,
            "type": "google-adk",
            "description": card.description,
            "version": card.version,
        },
        "transport": {"streaming": True, "websocket": False, "httpBinary": False},
        "tools": {"supported": True, "clientProvided": True, "parallelCalls": True},
        "state": {"snapshots": True, "deltas": True, "persistentState": True},
        "reasoning": {"supported": True, "streaming": True},
        "multimodal": {
            "input": {"image": _takes(modes, "image/"), "audio": _takes(modes, "audio/")}
        },
        "humanInTheLoop": {"supported": True, "approvals": True, "interrupts": True},
    }


def _takes(modes: set[str], kind: str) -> bool:
    return any(mode.startswith(kind) or mode == "*/*" for mode in modes)
