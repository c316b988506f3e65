"""ADK events to A2A updates: text as it is spoken, section by section."""

from a2a.types import Artifact, Part, TaskArtifactUpdateEvent
from google.adk.events import Event
from google.genai import types

from aion_adk.formats.canonical import CANONICAL_TYPE, CanonicalType
from aion_adk.parts import ADK_THOUGHT, STREAM_DELTA, STREAM_DELTA_NAME, STREAM_THOUGHT
from aion_adk.turn import SectionKey, TextDelta
from aion_adk.values import to_struct

CHUNK_METADATA = to_struct({CANONICAL_TYPE: CanonicalType.TEXT_CHUNK})
THOUGHT_METADATA = to_struct({ADK_THOUGHT: True})


def section_of(event: Event) -> SectionKey:
    # The nodes of a workflow speak under its name, in its branch.
    return (event.author, f"{event.branch or ''}/{event.node_info.path}")


def text_of(content: types.Content | None) -> str:
    """The text a caller may read: thoughts are left out."""
    parts = (content.parts or []) if content else []
    return "".join(part.text for part in parts if part.text and not part.thought)


class DeltaSections:
    """The sections of streamed text that are open, each with an artifact of its own."""

    def __init__(self, *, task_id: str, context_id: str) -> None:
        self._task_id = task_id
        self._context_id = context_id
        self._open: dict[SectionKey, str] = {}

    def text(self, delta: TextDelta) -> TaskArtifactUpdateEvent:
        artifact_id = self._open.get(delta.key)
        # a2a-sdk rejects append=True before the artifact exists
        append = artifact_id is not None
        if artifact_id is None:
            artifact_id = self._open[delta.key] = self._free_id(delta)
        part = Part(text=delta.text, metadata=THOUGHT_METADATA if delta.thought else None)
        return self._update(artifact_id, [part], append=append)

    def open_id(self, key: SectionKey) -> str | None:
        """The artifact of a section that has begun."""
        return self._open.get(key)

    def end(self, key: SectionKey) -> TaskArtifactUpdateEvent | None:
        artifact_id = self._open.pop(key, None)
        if artifact_id is None:
            return None
        return self._update(artifact_id, [], append=True, last_chunk=True)

    def end_all(self) -> list[TaskArtifactUpdateEvent]:
        return [update for key in list(self._open) if (update := self.end(key))]

    def _free_id(self, delta: TextDelta) -> str:
        author = delta.key[0]
        taken = set(self._open.values())
        wanted = base = STREAM_THOUGHT if delta.thought else STREAM_DELTA
        attempt = 1
        while wanted in taken:
            suffix = "" if attempt == 1 else f":{attempt}"
            wanted = f"{base}:{author}{suffix}"
            attempt += 1
        return wanted

    def _update(
        self, artifact_id: str, parts: list[Part], *, append: bool, last_chunk: bool = False
    ) -> TaskArtifactUpdateEvent:
        return TaskArtifactUpdateEvent(
            task_id=self._task_id,
            context_id=self._context_id,
            artifact=Artifact(
                artifact_id=artifact_id,
                name=STREAM_DELTA_NAME,
                parts=parts,
                metadata=None if append else CHUNK_METADATA,
            ),
            append=append,
            last_chunk=last_chunk,
        )
