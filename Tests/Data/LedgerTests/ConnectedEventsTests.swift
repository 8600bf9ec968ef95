import AppStore
import CustomerImport
import Entitlements
import Store
import TestSupport
import Testing

@testable import Ledger

@Suite struct ConnectedEventsTests {
  @Test(
    "An event with very many ids is read, and only the nearest of them are followed", arguments: [10, 5_000])
  func manyAliases(count: Int) async throws {
    try await LedgerFixture.run { fixture in
      let ann = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ann")
      let aliases = (0..<count).map { "alias-\($0)" }
      let events = [
        try event("e1", of: ["ann"] + aliases), try event("e2", of: [aliases[count - 1], "ben"]),
      ]
      try await fixture.store.write { store throws(StoreError) in
        for event in events { _ = try store.insert(event) }
      }
      try await fixture.store.snapshot { reader throws in
        let connected = try ConnectedEvents(of: ann, reader)
        #expect(connected.events.count == (count == 10 ? 2 : 1))
        #expect(connected.isComplete == (count == 10))
      }
    }
  }

  private func event(_ id: String, of customers: [String]) throws -> ImportedEvent {
    let aliases = customers.map { "\"\($0)\"" }.joined(separator: ",")
    let body = Array(
      """
      {"event": {"id": "\(id)", "type": "RENEWAL", "event_timestamp_ms": 5, "environment": "SANDBOX",
        "aliases": [\(aliases)], "entitlement_ids": ["pro"], "store": "APP_STORE"}}
      """.utf8)
    let arrival = Instant(millisecondsSince1970: 5)
    return ImportedEvent(try RevenueCatEvent(body), of: "ocean", receivedAt: arrival, body: body)
  }
}
