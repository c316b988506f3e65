"""What a part or an artifact of A2A is, by ADK's metadata keys and this package's artifact ids."""

from a2a.types import Message, Part
from google.protobuf.struct_pb2 import Struct

ADK_TYPE = "adk_type"
ADK_THOUGHT = "adk_thought"
ADK_LONG_RUNNING = "adk_is_long_running"
PROMPT = "prompt"
ADK_ACTIONS = "adk_actions"
ADK_USAGE = "adk_usage_metadata"
ADK_FINISH_REASON = "adk_finish_reason"
ADK_AUTHOR = "adk_author"
ADK_THOUGHT_SIGNATURE = "adk_thought_signature"
ACTIONS_STATE_DELTA = "stateDelta"
FUNCTION_CALL = "function_call"
FUNCTION_RESPONSE = "function_response"
STATE_DELTA = "state_delta"

TOOL_CALLS = "tool_calls"
TOOL_RESULTS = "tool_results"

STREAM_DELTA = "aion:stream-delta"
"""How the ids of artifacts begin that carry streamed text until the whole message is there."""

STREAM_DELTA_NAME = "Stream Delta"
STREAM_THOUGHT = f"{STREAM_DELTA}#thought"


def is_transitory(artifact_id: str) -> bool:
    """Whether the artifact only carries streamed text, which is never stored."""
    return artifact_id.startswith(STREAM_DELTA)


def is_thought_delta(artifact_id: str) -> bool:
    return artifact_id.startswith(STREAM_THOUGHT)


def adk_type_of(part: Part) -> str:
    """The ADK type that a data part declares; empty for any other part."""
    if not part.HasField("data") or ADK_TYPE not in part.metadata.fields:
        return ""
    return part.metadata.fields[ADK_TYPE].string_value


def is_thought(part: Part) -> bool:
    return part.HasField("text") and _is_true(part.metadata, ADK_THOUGHT)


def is_prompt(part: Part) -> bool:
    """Whether the text is this package's own, asking a person to answer a pending call."""
    return part.HasField("text") and _is_true(part.metadata, PROMPT)


def is_long_running(part: Part) -> bool:
    return _is_true(part.metadata, ADK_LONG_RUNNING)


def has_data(message: Message, adk_type: str, *, or_key: str) -> bool:
    """Whether the message has a data part of this ADK type, or one whose object has `or_key`."""
    return any(
        adk_type_of(part) == adk_type
        or (part.HasField("data") and or_key in part.data.struct_value.fields)
        for part in message.parts
    )


def _is_true(metadata: Struct, key: str) -> bool:
    return key in metadata.fields and metadata.fields[key].bool_value
