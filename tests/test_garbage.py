import gc
from collections.abc import Generator

import pytest

from aion_adk.garbage import seldom_collected


@pytest.fixture(autouse=True)
def pythons_pace() -> Generator[None, None, None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_a_server_is_collected_more_seldom_and_leaves_the_pace_as_it_was() -> None:
    with seldom_collected():
        assert gc.get_threshold() == (10_000, 10, 10)
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == (700, 10, 10)
    assert gc.get_freeze_count() == 0


def test_servers_of_one_process_may_stop_in_any_order() -> None:
    first, second = seldom_collected(), seldom_collected()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold() == (10_000, 10, 10)
    assert gc.get_freeze_count() > 0
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("young", [0, 50_000])
def test_a_process_that_set_a_pace_of_its_own_keeps_it(young: int) -> None:
    gc.set_threshold(young, 5, 5)
    with seldom_collected():
        assert gc.get_threshold() == (young, 5, 5)
