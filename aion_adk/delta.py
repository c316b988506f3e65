"""The artifact that carries text in flight."""

STREAM_DELTA = "aion:stream-delta"
STREAM_DELTA_NAME = "Stream Delta"
STREAM_THOUGHT = f"{STREAM_DELTA}#thought"


def is_transitory(artifact_id: str) -> bool:
    """Whether the artifact only carries text in flight and is stored nowhere."""
    return artifact_id.startswith(STREAM_DELTA)


def is_thought_delta(artifact_id: str) -> bool:
    return artifact_id.startswith(STREAM_THOUGHT)
