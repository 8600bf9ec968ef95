"""Performs the steps of clients/scenario.json: one JSON object a line in, one out. `async` uses AsyncClient."""

import asyncio
import concurrent.futures
import itertools
import json
import sys

import jwt

from entitled import AsyncClient, Client, EntitledError
from entitled.tokens import TokenVerifier
from entitled.v1.entitlement_service_pb2 import IssueTokenRequest
from entitled.v1.environment_pb2 import ENVIRONMENT_SANDBOX

SETTINGS = json.loads(sys.argv[2])
APP, AUDIENCE = SETTINGS["app"], SETTINGS["audience"]
VERIFIER = TokenVerifier(
    f"http://{SETTINGS['http']}/.well-known/jwks.json", issuer=SETTINGS["issuer"], audience=AUDIENCE, app=APP
)


def stream(client, step):
    """The events of a step: those of a segment, or of the app."""
    if "afterPosition" in step:
        start = {"after_position": step["afterPosition"]}
    else:
        start = {"after_sequence": step.get("after")}
    return client.watch_segment(step["segment"], **start) if "segment" in step else client.watch(**start)


class Sync:
    """Client with the interface of AsyncClient, so that both perform the same steps."""

    def __init__(self, client):
        self.client = client
        self.streams = {}
        self.threads = concurrent.futures.ThreadPoolExecutor()

    async def check(self, *arguments):
        return self.client.check(*arguments)

    async def submit(self, *arguments):
        return self.client.submit(*arguments)

    async def token(self, request):
        return self.client.entitlement.IssueToken(request)

    async def watch(self, step):
        with stream(self.client, step) as events:
            return list(itertools.islice(events, step["count"])), events.position

    async def follow(self, step):
        """Starts to receive events while other steps are performed."""
        return self.threads.submit(lambda: [*itertools.islice(stream(self.client, step), step["count"])])

    async def followed(self, following):
        return following.result()


class Async(Sync):
    async def check(self, *arguments):
        return await self.client.check(*arguments)

    async def submit(self, *arguments):
        return await self.client.submit(*arguments)

    async def token(self, request):
        return await self.client.entitlement.IssueToken(request)

    async def watch(self, step):
        async with stream(self.client, step) as events:
            return [await anext(events) for _ in range(step["count"])], events.position

    async def follow(self, step):
        return asyncio.create_task(self.watch(step))

    async def followed(self, following):
        return (await following)[0]


def shown(events):
    return [{"sequence": event.sequence, "type": event.type, "customer": event.customer_id} for event in events]


async def perform(client, step):
    match step["do"]:
        case "check":
            answer = await client.check(step["customer"], step["entitlement"])
            return {"entitled": answer.entitled, "productId": answer.product_id, "reason": answer.reason}
        case "submit":
            response = await client.submit(step["customer"], step["transaction"])
            return {"transactionId": response.transaction.transaction_id, "position": response.position}
        case "watch":
            events, position = await client.watch(step)
            return {"events": shown(events), "position": position}
        case "follow":
            client.streams[step["stream"]] = await client.follow(step)
            return {}
        case "followed":
            return {"events": shown(await client.followed(client.streams[step["stream"]]))}
        case "issueToken":
            request = IssueTokenRequest(
                app=APP, environment=ENVIRONMENT_SANDBOX, customer_id=step["customer"], audience=AUDIENCE
            )
            return {"token": (await client.token(request)).token}
        case "verifyToken":
            claims = VERIFIER.verify(step["token"])
            return {"customer": claims.customer_id, "entitlements": sorted(claims.entitlements)}


async def main():
    arguments = {"app": APP, "environment": ENVIRONMENT_SANDBOX}
    if sys.argv[1] == "async":
        client = Async(AsyncClient(SETTINGS["grpc"], **arguments))
    else:
        client = Sync(Client(SETTINGS["grpc"], **arguments))
    # Read on another thread, so that streams continue meanwhile.
    while line := await asyncio.to_thread(sys.stdin.readline):
        try:
            result = await perform(client, json.loads(line))
        except jwt.InvalidTokenError:
            result = {"error": {"code": "INVALID_TOKEN"}}
        except EntitledError as error:
            result = {"error": {"code": error.code.name, "reason": error.reason, "fields": list(error.fields)}}
        print(json.dumps(result), flush=True)


asyncio.run(main())
