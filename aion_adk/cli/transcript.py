"""Prints the frames of an answer: each text once, files saved, the end as an exit code."""

import itertools
import mimetypes
import re
from pathlib import Path

from a2a.types import (
    Artifact,
    Message,
    Part,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
)

from aion_adk.cli.terminal import StreamedTexts, View
from aion_adk.protocol.parts import FUNCTION_CALL, adk_type_of, is_thought_delta, is_transitory
from aion_adk.protocol.structs import to_plain
from aion_adk.protocol.task_state import PAUSED_STATES, RUNNING_STATES, state_name

_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*]')
# File systems count bytes, 255 at the most; a number may come between the two.
_LONGEST_NAME = 180
_LONGEST_SUFFIX = 40


def safe_name(filename: str, *, media_type: str = "") -> str:
    """The last component of `filename`, without what a shell or a file system might act on."""
    last = filename.replace("\\", "/").rsplit("/", 1)[-1]
    name = _UNSAFE.sub("_", last).strip().lstrip(".-").rstrip(". ")
    path = Path(name or f"file{mimetypes.guess_extension(media_type) or ''}")
    return f"{_cut(path.stem, _LONGEST_NAME)}{_cut(path.suffix, _LONGEST_SUFFIX)}"


def save(content: bytes, filename: str, *, folder: Path, media_type: str = "") -> Path:
    """Writes a new file in `folder`; a number is added to a name that is taken."""
    folder.mkdir(parents=True, exist_ok=True)
    name = Path(safe_name(filename, media_type=media_type))
    for number in itertools.count():
        path = folder / (f"{name.stem}-{number}{name.suffix}" if number else name.name)
        try:
            # Exclusive creation neither overwrites nor follows a link.
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            continue
        return path
    raise AssertionError("count() does not end")


def _cut(text: str, max_bytes: int) -> str:
    return text.encode()[:max_bytes].decode(errors="ignore")


COMPLETED, FAILED, WAITING, NO_ANSWER = 0, 1, 3, 4


def state_in_words(state: TaskState) -> str:
    return state_name(state).replace("_", " ").lower()


class Transcript:
    """Prints frames in order; keeps the task, its context and how it ended."""

    def __init__(self, view: View, *, save_to: Path | None) -> None:
        self.task_id = ""
        self.context_id = ""
        self.state = TaskState.TASK_STATE_UNSPECIFIED
        self._view = view
        self._texts = StreamedTexts(view)
        self._save_to = save_to
        self._shown: set[str] = set()
        self._unfinished: dict[str, Artifact] = {}
        self._answered = False

    @property
    def exit_code(self) -> int:
        if self._answered or self.state == TaskState.TASK_STATE_COMPLETED:
            return COMPLETED
        if self.state in PAUSED_STATES:
            return WAITING
        return NO_ANSWER if self.state in {*RUNNING_STATES, 0} else FAILED

    def show(self, frame: StreamResponse) -> None:
        match frame.WhichOneof("payload"):
            case "task":
                self._task(frame.task)
            case "message":
                self._answered = True
                self.context_id = frame.message.context_id
                self._message(frame.message)
            case "status_update":
                update = frame.status_update
                self.task_id, self.context_id = update.task_id, update.context_id
                self._status(update.status)
            case "artifact_update":
                self._artifact_update(frame.artifact_update)
            case _:
                pass

    def end(self) -> None:
        """Prints what has not had its last chunk."""
        self._texts.end_all()
        for artifact in self._unfinished.values():
            self._attachments(artifact)
        self._view.end_line()

    def _task(self, task: Task) -> None:
        self.task_id, self.context_id = task.id, task.context_id
        if task.status.state not in RUNNING_STATES:
            for artifact in task.artifacts:
                if artifact.artifact_id not in self._shown:
                    self._shown.add(artifact.artifact_id)
                    self._artifact(artifact)
        self._status(task.status)

    def _status(self, status: TaskStatus) -> None:
        self.state = status.state
        if not status.HasField("message"):
            return
        if status.state in (TaskState.TASK_STATE_FAILED, TaskState.TASK_STATE_REJECTED):
            self._view.problem("".join(part.text for part in status.message.parts))
        else:
            self._message(status.message)

    def _message(self, message: Message) -> None:
        if message.message_id in self._shown:
            return
        self._shown.add(message.message_id)
        text = "".join(part.text for part in message.parts)
        if not self._texts.contain(text):
            self._view.end_line()
            self._view.answer(text)
            self._view.end_line()
        for part in message.parts:
            self._attachment(part)

    def _artifact_update(self, update: TaskArtifactUpdateEvent) -> None:
        artifact = update.artifact
        if is_thought_delta(artifact.artifact_id):
            return
        if not update.append:
            self._texts.end(artifact.artifact_id)
        self._add_text(artifact)
        if update.last_chunk:
            self._texts.end(artifact.artifact_id)
        if is_transitory(artifact.artifact_id):
            return
        self._shown.add(artifact.artifact_id)
        begun = self._unfinished.get(artifact.artifact_id)
        if begun is None or not update.append:
            self._unfinished[artifact.artifact_id] = artifact
        else:
            _append(begun, artifact)
        if update.last_chunk:
            self._attachments(self._unfinished.pop(artifact.artifact_id))

    def _add_text(self, artifact: Artifact) -> None:
        text = "".join(part.text for part in artifact.parts)
        heading = "" if is_transitory(artifact.artifact_id) else f"{artifact.name}:"
        if text:
            self._texts.add(artifact.artifact_id, text, heading=heading)

    def _artifact(self, artifact: Artifact) -> None:
        self._add_text(artifact)
        self._texts.end(artifact.artifact_id)
        whole = Artifact(name=artifact.name)
        _append(whole, artifact)
        self._attachments(whole)

    def _attachments(self, artifact: Artifact) -> None:
        if artifact.name and any(part.HasField("data") for part in artifact.parts):
            self._view.note(f"{artifact.name}:")
        for part in artifact.parts:
            self._attachment(part)

    def _attachment(self, part: Part) -> None:
        match part.WhichOneof("content"):
            case "raw":
                if folder := self._save_to:
                    path = save(part.raw, part.filename, folder=folder, media_type=part.media_type)
                    self._view.note(f"saved {path} ({_size(len(part.raw))})")
            case "url":
                self._view.note(f"file {part.filename or part.media_type}: {part.url}")
            case "data" if adk_type_of(part) == FUNCTION_CALL:
                pass  # the pending call; the text next to it asks for the answer
            case "data":
                self._view.data(to_plain(part.data))
            case _:
                pass


def _append(artifact: Artifact, chunk: Artifact) -> None:
    """Adds the parts; chunks of one file become one part."""
    for part in chunk.parts:
        last = artifact.parts[-1] if artifact.parts else Part()
        if last.HasField("raw") and part.HasField("raw") and last.filename == part.filename:
            last.raw += part.raw
        else:
            artifact.parts.append(part)


def _size(count: int) -> str:
    return f"{count} bytes" if count < 10_000 else f"{count / 1000:,.0f} kB"
