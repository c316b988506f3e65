from benchmarks.front_ends import measured, table


async def test_every_front_end_is_measured_beside_plain_a2a() -> None:
    figures = await measured(chunks=5, rounds=1)
    assert list(figures) == ["A2A", "AG-UI", "Chat Completions", "Responses"]
    assert all(cost > 0 for cost in figures.values())
    assert "of A2A" in table(figures)
