"""The cost of Python's grpcio alone: `EntitlementService.Check` answered from a dictionary.

The asyncio interface on one thread. Called with the folder of the generated messages and the number of customers;
prints the port it listens on.
"""

import asyncio
import sys

import grpc

sys.path.insert(0, sys.argv[1])

from entitled.v1.entitlement_service_pb2 import CheckResponse  # noqa: E402
from entitled.v1.entitlement_service_pb2_grpc import (  # noqa: E402
    EntitlementServiceServicer,
    add_EntitlementServiceServicer_to_server,
)


def answer(number):
    made = CheckResponse()
    entitlement = made.entitlement
    entitlement.MergeFrom(type(entitlement)(
        name="pro", entitled=True, reason="SUBSCRIPTION_ACTIVE", product_id="pro.monthly",
        transaction_id=str(2_000_000_000_000 + number), original_transaction_id=str(2_000_000_000_000 + number),
    ))  # fmt: skip
    entitlement.until.seconds = 1_893_456_000 + number
    made.evaluated_at.seconds = 1_767_225_600
    return made


class Customers(EntitlementServiceServicer):
    def __init__(self, count):
        self.answers = {f"customer-{number:07}": answer(number) for number in range(1, count + 1)}

    async def Check(self, request, _):
        return self.answers[request.customer_id]


async def main():
    server = grpc.aio.server()
    add_EntitlementServiceServicer_to_server(Customers(int(sys.argv[2])), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"ready port={port}", flush=True)
    await server.wait_for_termination()


asyncio.run(main())
