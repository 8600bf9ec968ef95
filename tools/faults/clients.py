"""Clients that know all replicas, as a backend behind a load balancer does, and count what they notice."""

import asyncio
import base64
import dataclasses
import http.client
import itertools
import json
import random
import threading
import time

import contract
import grpc
from contract import entitlement, entitlement_service
from grpc import StatusCode
from service import APP

CHECK_TRY, CHECK_TRIES = 0.5, 6  # seconds for one attempt; another replica is asked with each
ASKED_ABOUT = 200  # customers: a replica's memory has them all, so it needs no database to answer
KNOWN_LIMIT = 300  # seconds for the first answers about them
WRITE_TRY = 3.0
POST_TRY = 3.0  # as a load balancer that goes on to another replica; one that is cut off answers no one
POST_PAUSE = 0.2  # of each sender between two notifications
TEMPORARY = {StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED, StatusCode.ABORTED, StatusCode.CANCELLED,
             StatusCode.RESOURCE_EXHAUSTED}  # fmt: skip


def uuid(body):
    """The notificationUUID of a body."""
    payload = json.loads(body)["signedPayload"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["notificationUUID"]


@dataclasses.dataclass
class Counts:
    """What the clients noticed."""

    checks: int = 0
    failed_checks: int = 0
    wrong_checks: int = 0
    positions_asked: int = 0
    positions_answered: int = 0
    stale: int = 0
    watch_gaps: int = 0
    watch_repeats: int = 0
    apple_5xx: int = 0
    unexpected: list = dataclasses.field(default_factory=list)


class Clients:
    """All clients, in one event loop on a thread; the senders of notifications are threads."""

    def __init__(self, replicas, bodies, seed):
        self.replicas = replicas
        self.counts = Counts()
        self.random = random.Random(seed)
        # Customers that have access, with the latest position that a call returned.
        self.granted = {}
        self.last_position = ""
        self.last_write = time.monotonic()
        self.longest_gap = 0.0
        self.watched = []
        # Whether the database is up, so that Apple may get no 5xx.
        self.database_is_up = threading.Event()
        self.database_is_up.set()
        self.notifications = Notifications(self, bodies)
        # While it is not set, no client writes or asks.
        self.working = threading.Event()
        self.working.set()
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.work()))

    def start(self):
        self.thread.start()
        self.notifications.start()

    def wait_until_known(self):
        """Waits until each replica has answered, since its start, about the customers that are asked about: without a
        database, it can answer about no others. A replica that ended, or does not answer for too long, ends the run."""
        deadline = time.monotonic() + KNOWN_LIMIT
        while waiting := [replica for replica in self.replicas if len(replica.answered) < ASKED_ABOUT]:
            for replica in waiting:
                if (status := replica.process.poll()) is not None:
                    raise SystemExit(f"replica {replica.name} ended with status {status}: {replica.last_line()}")
            if time.monotonic() > deadline:
                names = ", ".join(replica.name for replica in waiting)
                raise SystemExit(f"no answers about all customers for {KNOWN_LIMIT} s from replica {names}; see its log")
            time.sleep(0.1)

    def stop(self):
        """Ends all clients; the writers finish the call that they repeat."""
        self.stopping.set()
        self.working.set()
        self.thread.join()
        self.notifications.join()

    def rest(self):
        """Lets no client write or ask until :meth:`resume`; returns when the last calls have ended."""
        self.working.clear()
        begin = time.monotonic()
        while time.monotonic() < max(begin, self.last_write) + WRITE_TRY:
            time.sleep(0.1)

    def resume(self):
        self.working.set()

    async def until_working(self):
        while not self.working.is_set():
            await asyncio.sleep(0.05)

    def begin_gap(self):
        """Begins to measure the longest time without an acknowledged write."""
        self.longest_gap, self.last_write = 0.0, time.monotonic()

    def wrote(self):
        now = time.monotonic()
        self.longest_gap, self.last_write = max(self.longest_gap, now - self.last_write), now

    async def work(self):
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_reconnect_backoff_ms", 500),
                   ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.min_reconnect_backoff_ms", 100)]  # fmt: skip
        channels = [grpc.aio.insecure_channel(replica.grpc, options=options) for replica in self.replicas]
        self.stubs = [contract.entitlement_stub(channel) for channel in channels]
        self.turn = itertools.count()
        tasks = [self.write(number) for number in range(3)]
        tasks += [self.write_without_key(number) for number in range(2)]
        tasks += [self.check(number) for number in range(4)]
        tasks += [self.watch(by_position) for by_position in (True, True, False)]
        await asyncio.gather(*tasks)
        for channel in channels:
            await channel.close()

    async def write(self, number):
        """Grants access to one customer after the other, and asks other replicas with the position of the answer."""
        for count in itertools.count():
            await self.until_working()
            if self.stopping.is_set():
                return
            customer = f"granted-{number}-{count}"
            request = entitlement_service.GrantRequest(
                app=APP, customer_id=customer, entitlement="pro", access_level=entitlement.ACCESS_LEVEL_FULL,
                idempotency_key=customer)  # fmt: skip
            answer = await self.repeat("Grant", request)
            self.wrote()
            self.acknowledged(customer, answer)
            # Without a position, the write is stored and the store could not be read afterwards.
            if answer.position:
                for index in range(len(self.stubs)):
                    await self.ask_at_least(index, customer, answer.position)
            await asyncio.sleep(self.random.uniform(0, 0.1))

    async def write_without_key(self, number):
        """Grants access without idempotency keys, and repeats only a call of which nothing was accepted, as its error says."""
        for count in itertools.count():
            await self.until_working()
            if self.stopping.is_set():
                return
            customer = f"keyless-{number}-{count}"
            request = entitlement_service.GrantRequest(
                app=APP, customer_id=customer, entitlement="pro", access_level=entitlement.ACCESS_LEVEL_FULL)
            is_refused = True
            while is_refused and not self.stopping.is_set():
                stub = self.stubs[next(self.turn) % len(self.stubs)]
                try:
                    answer = await stub.Grant(request, timeout=WRITE_TRY)
                    self.wrote()
                    self.acknowledged(customer, answer)
                    is_refused = False
                except grpc.RpcError as error:
                    is_refused = "nothing was accepted" in (error.details() or "")
                    if error.code() not in TEMPORARY:
                        self.counts.unexpected.append(f"Grant: {error.code().name} {error.details()}")
                await asyncio.sleep(self.random.uniform(0, 0.2))

    def acknowledged(self, customer, answer):
        self.granted[customer] = answer.position
        self.last_position = answer.position or self.last_position

    async def repeat(self, method, request):
        """Calls one replica after the other until one has carried the request out."""
        while True:
            stub = self.stubs[next(self.turn) % len(self.stubs)]
            try:
                return await getattr(stub, method)(request, timeout=WRITE_TRY)
            except grpc.RpcError as error:
                if error.code() not in TEMPORARY:
                    self.counts.unexpected.append(f"{method}: {error.code().name} {error.details()}")
                await asyncio.sleep(0.1)

    async def ask_at_least(self, index, customer, position):
        """An answer that is older than the position is stale; no answer is not."""
        request = entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro")
        metadata = [("entitled-at-least", position)]
        self.counts.positions_asked += 1
        try:
            answer = await self.stubs[index].Check(request, timeout=CHECK_TRY, metadata=metadata)
        except grpc.RpcError as error:
            if error.code() not in TEMPORARY:
                self.counts.unexpected.append(f"Check with a position: {error.code().name} {error.details()}")
            return
        self.counts.positions_answered += 1
        self.counts.stale += not answer.entitlement.entitled

    async def check(self, number):
        """Asks about customers that have access, without a position."""
        while not self.stopping.is_set():
            await self.until_working()
            customers = list(itertools.islice(self.granted, ASKED_ABOUT))
            if not customers:
                await asyncio.sleep(0.1)
                continue
            customer = self.random.choice(customers)
            request = entitlement_service.CheckRequest(app=APP, customer_id=customer, entitlement="pro")
            self.counts.checks += 1
            answer = await self.answer(request)
            if answer is None:
                self.counts.failed_checks += 1
            elif not answer.entitlement.entitled:
                self.counts.wrong_checks += 1
            await asyncio.sleep(0.002)

    async def answer(self, request):
        """The answer of the first replica that has one; `None` if none has in time."""
        first = next(self.turn)
        for attempt in range(CHECK_TRIES):
            index = (first + attempt) % len(self.stubs)
            answered = self.replicas[index].answered
            try:
                answer = await self.stubs[index].Check(request, timeout=CHECK_TRY)
                answered.add(request.customer_id)
                return answer
            except grpc.RpcError as error:
                if error.code() not in TEMPORARY:
                    self.counts.unexpected.append(f"Check: {error.code().name} {error.details()}")
                await asyncio.sleep(0.02)
        return None

    async def watch(self, by_position):
        """Follows all events of the app from the first one, and moves to another replica every few seconds."""
        seen, position = [], ""
        self.watched.append(seen)
        while not self.stopping.is_set():
            start = {"after_sequence": seen[-1] if seen else 0}
            if by_position and position:
                start = {"after_position": position}
            request = entitlement_service.WatchRequest(app=APP, heartbeat_interval={"nanos": 200_000_000}, **start)
            stub = self.random.choice(self.stubs)
            stream = stub.Watch(request, timeout=self.random.uniform(0.5, 4))
            try:
                async for message in stream:
                    if message.WhichOneof("content") == "event":
                        self.saw(seen, message.event.sequence)
                    position = message.position
            except grpc.RpcError as error:
                if error.code() not in TEMPORARY:
                    self.counts.unexpected.append(f"Watch: {error.code().name} {error.details()}")
                await asyncio.sleep(0.05)

    def saw(self, seen, sequence):
        last = seen[-1] if seen else 0
        self.counts.watch_gaps += sequence > last + 1
        self.counts.watch_repeats += sequence <= last
        seen.append(sequence)


class Notifications:
    """Posts Apple's notifications from several threads until stopped, each until it is acknowledged.

    Whatever replica answers 5xx while the database is up, it counts, although another one takes the notification then.
    """

    def __init__(self, clients, bodies):
        self.clients = clients
        self.waiting = bodies[::-1]
        self.lock = threading.Lock()
        # The UUIDs of those that a replica accepted.
        self.acknowledged = set()
        self.threads = [threading.Thread(target=self.send, args=(index,)) for index in range(3)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def join(self):
        for thread in self.threads:
            thread.join()

    def send(self, first):
        turn = itertools.count(first)
        while not self.clients.stopping.is_set():
            self.clients.working.wait()
            with self.lock:
                if not self.waiting:
                    return
                body = self.waiting.pop()
            while not self.post(self.clients.replicas[next(turn) % len(self.clients.replicas)], body):
                if self.clients.stopping.is_set():
                    return
                time.sleep(0.05)
            with self.lock:
                self.acknowledged.add(uuid(body))
            self.clients.wrote()
            time.sleep(POST_PAUSE)

    def post(self, replica, body):
        """Whether the replica accepted the notification."""
        was_up = self.clients.database_is_up.is_set()
        host, port = replica.http.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=POST_TRY)
        try:
            connection.request("POST", f"/notifications/{APP}", body, {"content-type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        if answer.status >= 500 and was_up and self.clients.database_is_up.is_set():
            self.clients.counts.apple_5xx += 1
            print(f"5XX {time.strftime('%H:%M:%S')} {replica.name}: {answer.status} {text[:200]!r}", flush=True)
        elif answer.status not in (200, 503):
            self.clients.counts.unexpected.append(f"notification: {answer.status} {text[:200]!r}")
        return answer.status == 200
