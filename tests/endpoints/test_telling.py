import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from a2a.server.events import Event as A2AEvent

from aion_adk.endpoints.telling import Encoder, told
from aion_adk.formats.agui.encoder import AGUIEncoder
from aion_adk.formats.openai_chat.encoder import ChatEncoder
from aion_adk.formats.openai_responses.encoder import ResponsesEncoder
from tests.formats.streams import delta, started


async def breaking_events() -> AsyncGenerator[A2AEvent, None]:
    yield started()
    yield delta("Hel")
    raise RuntimeError("the password is hunter2")


@pytest.mark.parametrize(
    ("encoder", "end"),
    [
        (AGUIEncoder(thread_id="t", run_id="r"), "RUN_ERROR"),
        (ChatEncoder(completion_id="c", model="m", created=1), "server_error"),
        (ResponsesEncoder(response_id="resp_1", model="m", created=1), "response.failed"),
    ],
)
async def test_a_stream_that_breaks_ends_with_an_error_that_names_the_log_line(
    encoder: Encoder, end: str, caplog: pytest.LogCaptureFixture
) -> None:
    items: list[dict[str, Any]] = [item async for item in told(encoder, breaking_events())]
    last = items[-1]
    assert end in (last.get("type"), last.get("error", {}).get("type"))
    assert "hunter2" not in json.dumps(items)
    [record] = caplog.records
    error_id = record.getMessage().rpartition(" ")[2]
    assert f"Error id: {error_id}" in json.dumps(last)
