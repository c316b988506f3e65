from typing import Any

from aion_adk.formats.openai_chat.history import NO_RESULT, messages_to_chat


def call(call_id: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}}


def asks(*call_ids: str, content: str = "") -> dict[str, Any]:
    said = {"content": content} if content else {}
    return {"id": "a", "role": "assistant", **said, "toolCalls": [call(item) for item in call_ids]}


def result(call_id: str, content: str = "ok") -> dict[str, Any]:
    return {"id": f"r{call_id}", "role": "tool", "toolCallId": call_id, "content": content}


def says(content: str, role: str = "assistant") -> dict[str, Any]:
    return {"id": content, "role": role, "content": content}


def answered(call_id: str, content: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_text_and_the_call_after_it_are_one_message() -> None:
    assert messages_to_chat([says("Look."), asks("1"), result("1")]) == [
        {"role": "assistant", "content": "Look.", "tool_calls": [call("1")]},
        answered("1"),
    ]


def test_a_result_moves_behind_its_call() -> None:
    history = [asks("1", "2"), says("hm", "user"), result("2"), result("1")]
    assert messages_to_chat(history) == [
        {"role": "assistant", "content": "", "tool_calls": [call("1"), call("2")]},
        answered("1"),
        answered("2"),
        {"role": "user", "content": "hm"},
    ]


def test_an_unanswered_call_gets_a_result_unless_it_is_the_last_thing_said() -> None:
    chat = messages_to_chat([asks("1"), says("go on", "user"), asks("2")])
    assert chat[1] == answered("1", NO_RESULT)
    assert chat[-1] == {"role": "assistant", "content": "", "tool_calls": [call("2")]}


def test_orphans_empty_messages_and_what_chat_cannot_say_are_left_out() -> None:
    thought = {"id": "t", "role": "reasoning", "content": "hm"}
    history = [says("be brief", "system"), result("9"), says(""), thought, says("hi")]
    assert messages_to_chat(history) == [
        {"role": "system", "content": "be brief"},
        {"role": "assistant", "content": "hi"},
    ]
