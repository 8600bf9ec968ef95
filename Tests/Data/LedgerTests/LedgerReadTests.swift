import AppStore
import Dispatch
import Ledger
import Store
import TestSupport
import Testing

/// Operations of the ledger that only read.
@Suite struct LedgerReadTests {
  @Test("A read of the ledger returns while a write is running")
  func concurrent() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      _ = try await fixture.ledger.merge("ana", into: "ben", fixture.scope)
      let consent = try await fixture.ledger.recordConsent(true, of: "ana", fixture.scope).consent
      #expect(consent?.isGiven == true)
      let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")

      let (hasStarted, mayEnd) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
      async let hasEndedInTime = fixture.store.write { _ throws(StoreError) in
        hasStarted.continuation.finish()
        return mayEnd.wait(timeout: .now() + 600) == .success
      }
      for await _ in hasStarted.stream {}
      #expect(try await fixture.ledger.facts(of: ana).transactions.count == 1)
      #expect(try await fixture.ledger.dueRefreshes(limit: 9).isEmpty)
      #expect(try await fixture.ledger.dueConsumptionRequests(limit: 9).isEmpty)
      let lines = try await fixture.ledger.lines(
        ["L1"], of: "ocean", in: .sandbox, notQueriedSince: at(40))
      #expect(lines == ["L1"])
      mayEnd.signal()
      #expect(try await hasEndedInTime)
    }
  }
}
