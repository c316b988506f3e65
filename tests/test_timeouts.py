from itertools import pairwise

from aion_adk import ServerOptions, timeouts


def test_what_is_outside_waits_longer_than_what_is_inside() -> None:
    from_the_inside = [
        timeouts.SECONDS_TO_END_PROCESS,
        timeouts.SECONDS_TO_END_FRAMEWORK,
        timeouts.SECONDS_TO_END_AGENT,
        timeouts.SECONDS_TO_END_RUN,
        timeouts.SECONDS_TO_END_STREAMS,
    ]
    assert all(inner + 1 <= outer for inner, outer in pairwise(from_the_inside))


def test_connections_live_longer_than_the_runs_that_get_all_of_their_grace() -> None:
    for grace in (0, 0.5, 30):
        given = ServerOptions(shutdown_grace=grace).seconds_to_stop
        assert given > grace + timeouts.SECONDS_TO_END_RUN
