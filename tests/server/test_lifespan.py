"""What a served app changes in its process, and undoes when it stops."""

import contextlib
import gc
import signal
from collections.abc import Generator

import pytest

from aion_adk import to_a2a
from aion_adk.server.lifespan import fewer_collections, on_stop_signal
from tests.agents import Named
from tests.handling import until_idle

ORDERS = pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["in order", "in reverse"])


@pytest.fixture(autouse=True)
def pythons_pace() -> Generator[None, None, None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_a_server_collects_less_often_and_leaves_the_pace_as_it_was() -> None:
    with fewer_collections():
        assert gc.get_threshold() == (10_000, 10, 10)
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == (700, 10, 10)
    assert gc.get_freeze_count() == 0


@ORDERS
async def test_the_last_of_two_apps_restores_the_process(order: tuple[int, int]) -> None:
    stopped: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    handler = signal.getsignal(signal.SIGTERM)
    try:
        apps = [to_a2a(Named(name="anna")), to_a2a(Named(name="bert"))]
        stacks = [contextlib.AsyncExitStack(), contextlib.AsyncExitStack()]
        for app, stack in zip(apps, stacks, strict=True):
            await stack.enter_async_context(app.running())
        await stacks[order[0]].aclose()
        assert gc.get_threshold() == (10_000, 10, 10)
        assert gc.get_freeze_count() > 0
        assert signal.getsignal(signal.SIGTERM) != handler
        await stacks[order[1]].aclose()
        assert gc.get_threshold() == (700, 10, 10)
        assert gc.get_freeze_count() == 0
        assert signal.getsignal(signal.SIGTERM) is handler
        signal.raise_signal(signal.SIGTERM)
        assert stopped == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("young", [0, 50_000])
def test_a_process_that_set_a_pace_of_its_own_keeps_it(young: int) -> None:
    gc.set_threshold(young, 5, 5)
    with fewer_collections():
        assert gc.get_threshold() == (young, 5, 5)
    assert gc.get_threshold() == (young, 5, 5)


def test_a_pace_that_is_set_while_a_server_runs_stays() -> None:
    with fewer_collections():
        gc.set_threshold(5_000, 5, 5)
    assert gc.get_threshold() == (5_000, 5, 5)


def test_objects_that_the_process_has_frozen_stay_frozen() -> None:
    gc.freeze()
    with fewer_collections():
        pass
    assert gc.get_freeze_count() > 0
    gc.unfreeze()


async def test_a_signal_reaches_every_app_once_and_then_the_server() -> None:
    begun: list[str] = []
    before = signal.signal(signal.SIGTERM, lambda _, __: begun.append("server"))
    try:
        with (
            on_stop_signal(lambda: begun.append("first")),
            on_stop_signal(lambda: begun.append("second")),
        ):
            signal.raise_signal(signal.SIGTERM)
            await until_idle()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert begun == ["server", "first", "second"]


async def test_a_handler_that_is_installed_later_is_left_alone() -> None:
    before = signal.signal(signal.SIGTERM, lambda _, __: None)

    def later(number: int, frame: object) -> None: ...

    try:
        with on_stop_signal(lambda: None):
            signal.signal(signal.SIGTERM, later)
        assert signal.getsignal(signal.SIGTERM) is later
    finally:
        signal.signal(signal.SIGTERM, before)
