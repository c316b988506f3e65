import json
from typing import Any

from a2a.server.events import Event
from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a.utils.proto_utils import to_stream_response
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given, settings
from hypothesis import strategies as st

from aion_adk.protocol.json_codec import to_json
from aion_adk.protocol.structs import to_struct, to_value

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
plain: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
structs = st.dictionaries(texts, texts | plain, max_size=2).map(to_struct)
metadata = st.none() | structs
ids = st.just("") | texts
extensions = st.just(list[str]()) | st.lists(texts, max_size=2)


def parts_with(**content: st.SearchStrategy[Any]) -> st.SearchStrategy[Part]:
    return st.builds(Part, metadata=metadata, filename=ids, media_type=ids, **content)


parts = st.lists(
    st.builds(Part, text=texts)
    | parts_with(text=texts)
    | parts_with(raw=st.binary(max_size=8))
    | parts_with(url=texts)
    | parts_with(data=plain.map(to_value))
    | parts_with(),
    max_size=3,
)
messages = st.builds(
    Message,
    message_id=ids,
    context_id=ids,
    task_id=ids,
    role=st.sampled_from(Role.values()),
    parts=parts,
    metadata=metadata,
    extensions=extensions,
    reference_task_ids=extensions,
)
timestamps = st.builds(
    Timestamp, seconds=st.integers(0, 4 * 10**9), nanos=st.integers(0, 10**9 - 1)
)
statuses = st.builds(
    TaskStatus,
    state=st.sampled_from(TaskState.values()),
    message=st.none() | messages,
    timestamp=st.none() | timestamps,
)
artifacts = st.builds(
    Artifact,
    artifact_id=ids,
    name=ids,
    description=ids,
    parts=parts,
    metadata=metadata,
    extensions=extensions,
)
tasks = st.builds(
    Task,
    id=ids,
    context_id=ids,
    status=st.none() | statuses,
    artifacts=st.lists(artifacts, max_size=2),
    history=st.lists(messages, max_size=2),
    metadata=metadata,
)
status_updates = st.builds(
    TaskStatusUpdateEvent,
    task_id=ids,
    context_id=ids,
    status=st.none() | statuses,
    metadata=metadata,
)
artifact_updates = st.builds(
    TaskArtifactUpdateEvent,
    task_id=ids,
    context_id=ids,
    artifact=st.none() | artifacts,
    append=st.booleans(),
    last_chunk=st.booleans(),
    metadata=metadata,
)
text_chunks = st.builds(
    TaskArtifactUpdateEvent,
    task_id=ids,
    context_id=ids,
    artifact=st.builds(
        Artifact,
        artifact_id=ids,
        name=ids,
        parts=st.builds(Part, text=texts, metadata=metadata).map(lambda part: [part]),
        metadata=metadata,
    ),
    append=st.booleans(),
    last_chunk=st.booleans(),
)


@settings(max_examples=300, deadline=None)
@given(tasks | messages | status_updates | artifact_updates | text_chunks)
def test_every_event_is_the_json_that_protobuf_writes(event: Event) -> None:
    written = to_json(event)
    assert json.loads(written) == MessageToDict(to_stream_response(event))
    assert "\n" not in written
    assert "\r" not in written


def test_a_text_delta_is_written_without_a_field_that_says_nothing() -> None:
    artifact = Artifact(artifact_id="aion:stream-delta", name="Stream Delta")
    artifact.parts.append(Part(text='Straße "1"\n'))
    update = TaskArtifactUpdateEvent(task_id="t", context_id="c", artifact=artifact, append=True)
    assert to_json(update) == (
        '{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":'
        '"aion:stream-delta","name":"Stream Delta","parts":[{"text":"Straße \\"1\\"\\n"}]},'
        '"append":true}}'
    )


def test_a_state_that_this_version_does_not_know_is_written_as_protobuf_writes_it() -> None:
    update = TaskStatusUpdateEvent(task_id="t")
    update.status.state = 99  # pyright: ignore[reportAttributeAccessIssue]  # an open enum
    expected = MessageToDict(StreamResponse(status_update=update))
    assert json.loads(to_json(update)) == expected
    assert ParseDict(expected, StreamResponse()).status_update.status.state == 99
