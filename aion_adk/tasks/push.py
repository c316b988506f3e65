"""Push notifications: off the run's path, in order per task, with retries, to public addresses."""

import asyncio
import copy
import logging
import socket
from collections import OrderedDict, deque
from functools import cached_property

import httpx
from a2a.server.agent_execution import RequestContext
from a2a.server.tasks import BasePushNotificationSender, PushNotificationConfigStore
from a2a.utils.push_url_validator import validate_push_notification_url

from aion_adk import timeouts
from aion_adk.protocol.task_state import TERMINAL_STATES, TaskEvent, settled_state_of

logger = logging.getLogger(__name__)

WEBHOOK = "task_push_notification_config"
MAX_WAITING = 256
MAX_AT_ONCE = 64
MAX_FAILING = 1_000
MAX_WATCHED = 100_000

_RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


class PushDelivery:
    """Posts what happens to a task to the webhooks registered for it.

    A task's events wait in a queue of their own, so a webhook that is slow or dead holds up
    nothing but itself. Beyond `MAX_WAITING` the oldest are dropped, and the log says so.
    """

    def __init__(
        self,
        configs: PushNotificationConfigStore,
        *,
        private_urls: bool = False,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.configs = configs
        self._private_urls = private_urls
        self._transport = transport
        self._client: httpx.AsyncClient | None = None
        self._watched: OrderedDict[str, None] = OrderedDict()
        self._queues: dict[str, deque[TaskEvent]] = {}
        self._workers: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(MAX_AT_ONCE)

    async def accepts(self, url: str) -> bool:
        """Whether notifications may go to `url`: public addresses only, unless told otherwise."""
        if not self._private_urls:
            return await validate_push_notification_url(url)
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL:
            return False
        return parsed.scheme in ("http", "https") and bool(parsed.host)

    def watch(self, task_id: str) -> None:
        """Looks for webhooks of the task from here on; other tasks are known to have none."""
        self._watched[task_id] = None
        self._watched.move_to_end(task_id)
        while len(self._watched) > MAX_WATCHED:
            self._watched.popitem(last=False)

    async def keep_webhook(self, request: RequestContext, *, goes_on: bool) -> None:
        """Keeps the webhook named with a message; a task that goes on may have others already."""
        task_id, given = request.task_id or "", request.configuration
        if given and given.HasField(WEBHOOK):
            config = given.task_push_notification_config
            await self.configs.set_info(task_id, config, request.call_context)
        elif not goes_on:
            return
        self.watch(task_id)

    def send(self, task_id: str, event: TaskEvent) -> None:
        """Queues `event` for the task's webhooks and returns at once."""
        if task_id not in self._watched:
            return
        sent = copy.deepcopy(event)
        queue = self._queues.get(task_id)
        if queue is not None:
            if len(queue) >= MAX_WAITING:
                logger.warning("task %s: a push notification is dropped, too many wait", task_id)
                queue.popleft()
            queue.append(sent)
            return
        self._queues[task_id] = deque([sent])
        worker = asyncio.create_task(self._deliver(task_id))
        self._workers.add(worker)
        worker.add_done_callback(self._workers.discard)

    async def aclose(self) -> None:
        """Gives what waits a moment to leave."""
        if self._workers:
            _, late = await asyncio.wait(self._workers, timeout=timeouts.SECONDS_TO_END_POSTS)
            for worker in late:
                worker.cancel()
        if self._client:
            await self._client.aclose()

    @cached_property
    def _sender(self) -> BasePushNotificationSender:
        # Made when it is first needed: a client loads the certificates of every authority.
        reachable = None if self._private_urls else PublicAddresses()
        transport = self._transport or RetryingTransport(reachable)
        self._client = httpx.AsyncClient(transport=transport)
        return BasePushNotificationSender(
            self._client, self.configs, push_url_validator=self.accepts
        )

    async def _deliver(self, task_id: str) -> None:
        queue = self._queues[task_id]
        try:
            while queue:
                event = queue.popleft()
                async with self._slots:
                    await self._sender.send_notification(task_id, event)
                if settled_state_of(event) in TERMINAL_STATES:
                    self._watched.pop(task_id, None)
        finally:
            del self._queues[task_id]


class RetryingTransport(httpx.AsyncBaseTransport):
    """Tries a request again while its server is out of reach or asks for it.

    A server that failed every attempt gets one attempt per request until it answers again. The
    body of an answer is never read: nothing in it matters, and it might have no end.
    """

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        attempts: int = 4,
        first_pause: float = 0.5,
        timeout: float = 10.0,
    ) -> None:
        self._transport = transport or httpx.AsyncHTTPTransport()
        self._attempts = attempts
        self._first_pause = first_pause
        self._timeout = timeout
        self._failing: OrderedDict[str, None] = OrderedDict()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = str(request.url)
        attempts = 1 if url in self._failing else self._attempts
        for attempt in range(attempts):
            if attempt:
                await asyncio.sleep(self._first_pause * 2 ** (attempt - 1))
            try:
                status = await self._status_of(request)
            except (httpx.TransportError, TimeoutError) as error:
                logger.info("push notification to %s: %s", request.url.host, type(error).__name__)
                continue
            if status not in _RETRIED_STATUS:
                self._failing.pop(url, None)
                return httpx.Response(status, request=request)
        self._failing[url] = None
        if len(self._failing) > MAX_FAILING:
            self._failing.popitem(last=False)
        raise httpx.ConnectError(f"no answer after {attempts} attempts", request=request)

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _status_of(self, request: httpx.Request) -> int:
        async with asyncio.timeout(self._timeout):
            response = await self._transport.handle_async_request(request)
            await response.aclose()
            return response.status_code


_PORTS = {"http": 80, "https": 443}


class NotPublic(httpx.RequestError):
    """The name has no public address; to try again would not help."""


class PublicAddresses(httpx.AsyncBaseTransport):
    """Connects to the very address that was checked: the next look-up may give another one.

    No connection is kept: it would be known by its address, which other names may share.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        unkept = httpx.Limits(max_keepalive_connections=0)
        self._transport = transport or httpx.AsyncHTTPTransport(limits=unkept)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        failure: httpx.ConnectError | None = None
        for address in await _addresses_of(request.url):
            pinned = _pinned(request, address)
            if not await validate_push_notification_url(str(pinned.url)):
                raise NotPublic(f"{request.url.host} is no public address", request=request)
            try:
                return await self._transport.handle_async_request(pinned)
            except httpx.ConnectError as error:
                failure = error
        raise failure or httpx.ConnectError(f"{request.url.host} is unknown", request=request)

    async def aclose(self) -> None:
        await self._transport.aclose()


async def _addresses_of(url: httpx.URL) -> list[str]:
    port = url.port or _PORTS[url.scheme]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            url.host, port, type=socket.SOCK_STREAM
        )
    except OSError:
        return []
    return [str(address[0]) for *_, address in found]


def _pinned(request: httpx.Request, address: str) -> httpx.Request:
    """The same request to one address; its certificate must still be that of the name."""
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )
