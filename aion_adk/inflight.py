"""The streamed text of a run whose sections are still open."""

from a2a.types import Artifact, TaskArtifactUpdateEvent


class TextInFlight:
    """Kept for readers that join late, and only until its section ends."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[TaskArtifactUpdateEvent, list[str]]] = {}

    def take(self, event: TaskArtifactUpdateEvent) -> None:
        artifact = event.artifact
        artifact_id = artifact.artifact_id
        if event.last_chunk:
            self._open.pop(artifact_id, None)
            return
        known = self._open.get(artifact_id)
        if known is None or not event.append:
            known = self._open[artifact_id] = (event, [])
        for part in artifact.parts:
            known[1].append(part.text)

    def add(self, artifact_id: str, text: str) -> bool:
        """Takes one more chunk of a section; False if it is not open."""
        known = self._open.get(artifact_id)
        if known is None:
            return False
        known[1].append(text)
        return True

    def so_far(self) -> list[TaskArtifactUpdateEvent]:
        """One chunk for each open section, with all of its text."""
        return [_with_text(first, "".join(chunks)) for first, chunks in self._open.values()]

    def close(self) -> list[TaskArtifactUpdateEvent]:
        """Forgets the open sections; returns the updates that end them."""
        ends = [_end_of(first) for first, _ in self._open.values()]
        self._open.clear()
        return ends


def _with_text(first: TaskArtifactUpdateEvent, text: str) -> TaskArtifactUpdateEvent:
    update = TaskArtifactUpdateEvent()
    update.CopyFrom(first)
    del update.artifact.parts[1:]
    update.artifact.parts[0].text = text
    return update


def _end_of(first: TaskArtifactUpdateEvent) -> TaskArtifactUpdateEvent:
    return TaskArtifactUpdateEvent(
        task_id=first.task_id,
        context_id=first.context_id,
        artifact=Artifact(artifact_id=first.artifact.artifact_id, name=first.artifact.name),
        append=True,
        last_chunk=True,
    )
