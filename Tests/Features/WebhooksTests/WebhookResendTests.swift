import AppStore
import Store
import TestSupport
import Testing

@testable import Webhooks

/// Messages that an operator resends while the worker has them in memory.
@Suite struct WebhookResendTests {
  @Test("A message that is resent while it waits for an earlier one is sent once, in order")
  func waiting() async throws {
    try await Stage.run(concurrency: 3) { stage in
      let store = RefusingStore(stage.store)
      let worker = stage.restarted(over: store)
      let (gate, opener) = AsyncStream.makeStream(of: Void.self)
      let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
      stage.receiver.pauses { request in
        guard request.sequence == 1 else { return }
        arrival.finish()
        for await _ in gate {}
      }
      try await stage.append("ana", "ana", "ana")
      let run = Task { try await worker.run() }
      for await _ in arrivals {}
      let reads = store.reads
      _ = try await stage.resend(.positions([2]))
      // The commit wakes the worker, which reads what is due.
      while store.reads == reads { try await Task.sleep(for: .milliseconds(5)) }
      opener.finish()
      _ = try await run.value
      let sent = stage.receiver.takeRequests().map(\.sequence)
      #expect(sent.prefix(3) == [1, 2, 3])
      #expect(try await stage.status().counts.pending == 0)
    }
  }

  @Test("A queue holds each message in memory and the others of its ordering key")
  func held() {
    var queue = SendQueue()
    for batch in OrderedBatch.batches([delivery(1), delivery(2), delivery(3), delivery(4, "ben")]) {
      queue.append(batch)
    }
    #expect(queue.start(1).map(\.delivery.position) == [1])
    #expect(queue.holds(delivery(2)))
    #expect(queue.holds(delivery(3, "erased-1")))
    #expect(queue.holds(delivery(9, "ben")))
    #expect(!queue.holds(delivery(9, "cem")))
    if let rest = queue.finish(1)?.rest { queue.append(rest) }
    #expect(queue.holds(delivery(2)) && queue.holds(delivery(3)) && !queue.holds(delivery(1, "cem")))
    #expect(queue.count == 3)
  }

  @Test("Stored deliveries get at most half of the connections while new messages wait")
  func shares() {
    var queue = SendQueue()
    for position in 1...9 as ClosedRange<Int64> {
      let item = OrderedBatch.Item(delivery: delivery(position, "\(position)"), isStored: position <= 6)
      queue.append(OrderedBatch(key: item.delivery.orderingKey, items: [item]))
    }
    #expect(queue.start(4).map(\.delivery.position) == [1, 7, 2, 8])
    _ = queue.finish(7)
    #expect(queue.start(4).map(\.delivery.position) == [9])
    _ = queue.finish(8)
    #expect(queue.start(4).map(\.delivery.position) == [3], "no new one waits")
  }

  private func delivery(_ position: Int64, _ subject: String = "ana") -> Delivery {
    Delivery(
      position: position, environment: .sandbox, subject: subject, type: "entitlement.started",
      occurredAt: instant(0), dueAt: nil)
  }
}
