import pytest
from a2a.server.cluster import ConcurrentTaskModificationError
from a2a.types import Artifact, ListTasksRequest, Task, TaskState, TaskStatus

from aion_adk.protocol.parts import STREAM_DELTA
from aion_adk.storage.memory import DurableTaskStore, MemoryTaskStore
from tests.handling import call


def task(task_id: str, state: TaskState = TaskState.TASK_STATE_COMPLETED) -> Task:
    return Task(id=task_id, context_id="c", status=TaskStatus(state=state))


async def kept(store: MemoryTaskStore, *, user: str = "") -> set[str]:
    return {found.id for found in (await store.list(ListTasksRequest(), call(user))).tasks}


async def test_the_oldest_finished_task_makes_room() -> None:
    store = MemoryTaskStore(most_tasks=2)
    for task_id in "abc":
        await store.save(task(task_id), call())
    assert await kept(store) == {"b", "c"}
    assert await store.get("a", call()) is None


@pytest.mark.parametrize("length", [0, 10, 200_000])
@pytest.mark.parametrize("state", [TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED])
async def test_a_task_comes_back_as_it_was_saved(state: TaskState, length: int) -> None:
    store = MemoryTaskStore()
    saved = task("a", state)
    saved.history.add(message_id="m").parts.add(text="x" * length)
    await store.save(saved, call())
    assert await store.get("a", call()) == saved
    assert await kept(store) == {"a"}


async def test_a_task_at_work_is_not_counted_out() -> None:
    store = MemoryTaskStore(most_tasks=2)
    await store.save(task("working", TaskState.TASK_STATE_WORKING), call())
    for task_id in "abc":
        await store.save(task(task_id), call())
    assert await kept(store) == {"working", "c"}


async def test_a_task_too_old_is_gone() -> None:
    store = MemoryTaskStore(longest_seconds=0)
    await store.save(task("a"), call())
    assert await store.get("a", call()) is None
    assert await kept(store) == set()


async def test_a_terminal_task_cannot_be_written_to() -> None:
    store = MemoryTaskStore()
    await store.save(task("a"), call())
    with pytest.raises(ConcurrentTaskModificationError):
        await store.save(task("a", TaskState.TASK_STATE_FAILED), call())
    assert await store.get("a", call()) == task("a")


async def test_tasks_are_kept_apart_by_owner() -> None:
    store = MemoryTaskStore()
    await store.save(task("a"), call("ann"))
    await store.save(task("b"), call("bob"))
    assert (await kept(store, user="ann"), await kept(store, user="bob")) == ({"a"}, {"b"})
    await store.delete("a", call("bob"))
    assert await store.get("a", call("ann")) == task("a")
    await store.delete("a", call("ann"))
    assert await store.get("a", call("ann")) is None


@pytest.mark.parametrize("wrapped", [False, True])
async def test_text_in_flight_is_never_stored(wrapped: bool) -> None:
    """E3"""
    memory = MemoryTaskStore()
    store = DurableTaskStore(memory) if wrapped else memory
    given = task("a", TaskState.TASK_STATE_WORKING)
    given.artifacts.append(Artifact(artifact_id=STREAM_DELTA))
    given.artifacts.append(Artifact(artifact_id="file"))
    await store.save(given, call())
    stored = await store.get("a", call())
    assert stored is not None
    assert [artifact.artifact_id for artifact in stored.artifacts] == ["file"]
    assert len(given.artifacts) == 2
