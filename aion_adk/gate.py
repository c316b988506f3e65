"""What every call passes on every transport before it reaches the handler."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import TypeVar

from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.types import (
    AgentCard,
    AgentExtension,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
)
from a2a.utils.errors import A2AError, ExtensionSupportRequiredError, InternalError

from aion_adk.stamp import new_id

logger = logging.getLogger(__name__)

P = TypeVar("P")
R = TypeVar("R")


class Gate(RequestHandler):
    """Refuses calls that lack a required extension; lets no unexpected error's text out.

    a2a-sdk's routes send the text of any exception to the caller, and its gRPC service the type
    too, so that the handler behind them must raise `A2AError` only.
    """

    def __init__(self, handler: RequestHandler, *, extensions: Iterable[AgentExtension]) -> None:
        self._handler = handler
        self._required = frozenset(known.uri for known in extensions if known.required)

    async def on_message_send(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> Task | Message:
        return await self._answer(self._handler.on_message_send, params, context)

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        events = self._events(self._handler.on_message_send_stream, params, context)
        async with aclosing(events):
            async for event in events:
                yield event

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        events = self._events(self._handler.on_subscribe_to_task, params, context)
        async with aclosing(events):
            async for event in events:
                yield event

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        return await self._answer(self._handler.on_get_task, params, context)

    async def on_list_tasks(
        self, params: ListTasksRequest, context: ServerCallContext
    ) -> ListTasksResponse:
        return await self._answer(self._handler.on_list_tasks, params, context)

    async def on_cancel_task(
        self, params: CancelTaskRequest, context: ServerCallContext
    ) -> Task | None:
        return await self._answer(self._handler.on_cancel_task, params, context)

    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        method = self._handler.on_create_task_push_notification_config
        return await self._answer(method, params, context)

    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        method = self._handler.on_get_task_push_notification_config
        return await self._answer(method, params, context)

    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        method = self._handler.on_list_task_push_notification_configs
        return await self._answer(method, params, context)

    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        method = self._handler.on_delete_task_push_notification_config
        return await self._answer(method, params, context)

    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        return await self._answer(self._handler.on_get_extended_agent_card, params, context)

    async def _answer(
        self,
        method: Callable[[P, ServerCallContext], Awaitable[R]],
        params: P,
        context: ServerCallContext,
    ) -> R:
        self._admit(context)
        try:
            return await method(params, context)
        except A2AError:
            raise
        except Exception:
            raise _internal_error() from None

    async def _events(
        self,
        method: Callable[[P, ServerCallContext], AsyncGenerator[Event, None]],
        params: P,
        context: ServerCallContext,
    ) -> AsyncGenerator[Event, None]:
        self._admit(context)
        try:
            async with aclosing(method(params, context)) as events:
                async for event in events:
                    yield event
        except A2AError:
            raise
        except Exception:
            raise _internal_error() from None

    def _admit(self, context: ServerCallContext) -> None:
        if missing := self._required - context.requested_extensions:
            names = ", ".join(sorted(missing))
            raise ExtensionSupportRequiredError(
                f"This agent requires extensions that the request does not activate: {names}"
            )


def _internal_error() -> InternalError:
    error_id = new_id()
    logger.exception("request failed, error id %s", error_id)
    return InternalError(f"Internal error. Error id: {error_id}")
