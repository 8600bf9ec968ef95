"""Performs the steps of clients/scenario.json: one JSON object a line in, one out. `async` uses AsyncClient."""

import asyncio
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
    f"http://{SETTINGS['http']}/.well-known/jwks.json", issuer=SETTINGS["issuer"], audience=AUDIENCE
)


class Sync:
    """Client with the interface of AsyncClient, so that both perform the same steps."""

    def __init__(self, client):
        self.client = client

    async def check(self, *arguments):
        return self.client.check(*arguments)

    async def submit(self, *arguments):
        return self.client.submit(*arguments)

    async def token(self, request):
        return self.client.entitlement.IssueToken(request)

    async def events(self, after, count):
        watched = self.client.watch(after_sequence=after)
        return list(itertools.islice(watched, count))


class Async(Sync):
    async def check(self, *arguments):
        return await self.client.check(*arguments)

    async def submit(self, *arguments):
        return await self.client.submit(*arguments)

    async def token(self, request):
        return await self.client.entitlement.IssueToken(request)

    async def events(self, after, count):
        events = []
        async for event in self.client.watch(after_sequence=after):
            events.append(event)
            if len(events) == count:
                return events


async def perform(client, step):
    match step["do"]:
        case "check":
            answer = await client.check(step["customer"], step["entitlement"])
            return {"entitled": answer.entitled, "productId": answer.product_id, "reason": answer.reason}
        case "submit":
            response = await client.submit(step["customer"], step["transaction"])
            return {"transactionId": response.transaction.transaction_id}
        case "watch":
            events = await client.events(step["after"], step["count"])
            return {"events": [{"sequence": event.sequence, "customer": event.customer_id} for event in events]}
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
    for line in sys.stdin:
        try:
            result = await perform(client, json.loads(line))
        except jwt.InvalidTokenError:
            result = {"error": {"code": "INVALID_TOKEN"}}
        except EntitledError as error:
            result = {"error": {"code": error.code.name, "reason": error.reason, "fields": list(error.fields)}}
        print(json.dumps(result), flush=True)


asyncio.run(main())
