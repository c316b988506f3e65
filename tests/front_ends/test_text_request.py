from typing import Any

from a2a.types import Message, Part, Role, SendMessageRequest
from google.protobuf.json_format import ParseDict, ParseError
from hypothesis import given, settings
from hypothesis import strategies as st

from aion_adk.front_ends.jsonrpc import text_request

anything: st.SearchStrategy[Any] = (
    st.text(max_size=8) | st.none() | st.integers(0, 3) | st.booleans() | st.lists(st.text())
)
parts: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"text": anything}, optional={"url": st.text(max_size=8)}
)
messages: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"messageId": anything, "parts": st.lists(parts, max_size=2) | st.just("text")},
    optional={
        "role": st.sampled_from(["ROLE_USER", "ROLE_AGENT", "ROLE_NEW", "1", "", 1, 99, None]),
        "contextId": anything,
        "taskId": anything,
        "task_id": anything,
        "metadata": st.sampled_from([{}, "", "{}"]),
        "extensions": anything,
        "new": anything,
    },
)


@settings(max_examples=500, deadline=None)
@given(
    st.fixed_dictionaries(
        {"message": messages | st.none()},
        optional={"configuration": st.just(dict[str, Any]()), "tenant": anything},
    )
)
def test_a_message_of_text_is_read_as_protobuf_reads_it(params: dict[str, Any]) -> None:
    request = text_request(params)
    try:
        expected = ParseDict(params, SendMessageRequest(), ignore_unknown_fields=True)
    except ParseError:
        assert request is None
    else:
        assert request in (None, expected)


def test_a_message_of_one_text_takes_the_short_way() -> None:
    message = {"messageId": "m", "contextId": "c", "role": "ROLE_USER", "parts": [{"text": "é"}]}
    expected = Message(message_id="m", context_id="c", role=Role.ROLE_USER, parts=[Part(text="é")])
    assert text_request({"message": message}) == SendMessageRequest(message=expected)
    assert text_request({"message": message, "configuration": {}}) is None
    assert text_request({"message": {**message, "parts": [{"text": "é"}, {"text": "é"}]}}) is None
    assert text_request({"message": {**message, "parts": [{"text": "\ud800"}]}}) is None
    assert text_request({"message": {**message, "unknown": "field"}}) is None
