import JSON
import Ledger
import Reporting
import SQLStore
import SQLite
import SQLiteStore
import Store
import TestSupport
import Testing

/// The round trips that writes need if the database is another process.
@Suite struct RoundTripTests {
  @Test("A batch of notifications about known purchases needs three round trips, whatever its size")
  func notifications() async throws {
    try await withRemoteStore { fixture, ledger, _, statistics in
      for number in 0..<30 {
        _ = try await fixture.submit(
          fixture.period(40...70, line: "L\(number)"),
          renewal: fixture.renewal(line: "L\(number)", signed: 40),
          for: "customer\(number)")
      }
      // The writer reads the last ids of the store once.
      try await fixture.notify(ledger, renewalOf: "L0", "first")
      let before = await statistics()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<30 {
          group.addTask { try await fixture.notify(ledger, renewalOf: "L\(number)", "second") }
        }
        try await group.waitForAll()
      }
      let after = await statistics()
      #expect(after.writes - before.writes == 30)
      #expect(after.roundTrips - before.roundTrips <= 3 * (after.batches - before.batches))
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test(
    "The postings of many purchases need as many round trips as those of one, also if a payer has several",
    arguments: [1, 3])
  func reports(purchasesOfPayer: Int) async throws {
    try await withRemoteStore { fixture, ledger, store, statistics in
      let clock = ServiceClock { [clock = fixture.clock] in clock.now }
      for number in 0..<31 {
        let payer = number / purchasesOfPayer
        let bought = try fixture.period(
          40...70, line: "L\(number)", ["appTransactionId": .string("A\(payer)")])
        _ = try await fixture.submit(
          bought, renewal: fixture.renewal(line: "L\(number)", signed: 40), for: "customer\(payer)")
      }
      // The first postings of an app need further reads. The writer across the network has read nothing yet.
      try await ReportLedger(store: fixture.store, catalog: fixture.catalog, clock: clock).run()
      func roundTrips(_ purchases: Range<Int>) async throws -> Int {
        for number in purchases { try await fixture.notify(ledger, renewalOf: "L\(number)", "first") }
        let before = await statistics()
        try await ReportLedger(store: store, catalog: fixture.catalog, clock: clock).run()
        return await statistics().roundTrips - before.roundTrips
      }
      let ofOne = try await roundTrips(0..<1)
      #expect(try await roundTrips(purchasesOfPayer..<31) <= ofOne)
    }
  }

  @Test("A repeated notification needs no round trip but that of the commit")
  func repeated() async throws {
    try await withRemoteStore { fixture, ledger, _, statistics in
      _ = try await fixture.submit(fixture.period(40...70))
      try await fixture.notify(ledger, renewalOf: "L1", "first")
      let before = await statistics()
      try await fixture.notify(ledger, renewalOf: "L1", "first")
      #expect(await statistics().roundTrips - before.roundTrips == 1)
    }
  }

  @Test("The first purchase of a customer needs few round trips")
  func firstPurchase() async throws {
    try await withRemoteStore { fixture, ledger, _, statistics in
      _ = try await ledger.submit(fixture.submission(of: "L1", for: "ana"))
      let before = await statistics()
      _ = try await ledger.submit(fixture.submission(of: "L2", for: "ben"))
      #expect(await statistics().roundTrips - before.roundTrips <= 4)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A command about a known customer needs two round trips: its reads and its commit")
  func commands() async throws {
    try await withRemoteStore { fixture, ledger, _, statistics in
      for number in 0..<3 {
        _ = try await fixture.submit(fixture.period(40...70, line: "L\(number)"), for: "customer\(number)")
      }
      func scope(_ key: String) -> CommandScope {
        var scope = CommandScope(appID: "ocean", environment: .sandbox, actor: "support")
        let request = ledger.idempotentRequest(key: key, of: "billing", [], naming: [])
        scope.idempotency = IdempotentCommand(request) { _ in [1] }
        return scope
      }
      func roundTrips(_ body: () async throws -> CommandResult) async throws -> Int {
        let before = await statistics()
        let result = try await body()
        #expect(result.evidenceID != nil && !result.isRepeated)
        return await statistics().roundTrips - before.roundTrips
      }
      // The writer reads the last ids of the store once.
      _ = try await ledger.grant("pro", to: "customer0", scope("first"))
      #expect(try await roundTrips { try await ledger.grant("pro", to: "customer1", scope("grant")) } == 2)
      #expect(try await roundTrips { try await ledger.grant("pro", to: "customer1", scope("again")) } == 2)
      #expect(try await roundTrips { try await ledger.grant("pro", to: "new", scope("new")) } == 2)
      #expect(
        try await roundTrips {
          try await ledger.setAttributes(
            [CustomerAttribute(name: "plan", value: "a")], of: "customer1", scope("attributes"))
        } <= 4)
      #expect(
        try await roundTrips {
          try await ledger.move("L1", to: "customer2", policy: .transfer, scope("move"))
        } <= 6)
      let repeated = try await ledger.grant("pro", to: "customer1", scope("grant"))
      #expect(repeated.isRepeated && repeated.response == [1])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  private func withRemoteStore(
    _ body: (LedgerFixture, EvidenceLedger, RemoteStore, () async -> RemoteWriter.Statistics) async throws ->
      Void
  ) async throws {
    try await LedgerFixture.run { fixture in
      guard let base = fixture.store as? SQLiteEntitlementStore else { return }
      let writer = try RemoteWriter(path: fixture.storePath, changes: base.changes)
      let store = RemoteStore(base: base, queue: WriteQueue(writer, capacity: 100, batchSize: 100))
      let ledger = fixture.makeLedger(store, recordEffects: { _ in })
      try await body(fixture, ledger, store) {
        // Waits until the writer has counted the writes whose results were delivered.
        _ = await store.purgeRemnants()
        return writer.statistics
      }
      await store.close()
    }
  }
}

extension LedgerFixture {
  fileprivate func submission(of line: String, for customer: String) throws -> Submission {
    Submission(
      appID: "ocean", customerID: customer, signedTransaction: try period(40...70, line: line),
      signedRenewalInfo: try renewal(line: line, signed: 40))
  }

  /// Ingests the notification of a renewal, which has a transaction and a renewal info.
  fileprivate func notify(_ ledger: EvidenceLedger, renewalOf line: String, _ name: String) async throws {
    let first: Int64 = name == "first" ? 70 : 100
    let signed = try sign([
      "notificationType": "DID_RENEW", "notificationUUID": .string("\(line)-\(name)"), "version": "2.0",
      "signedDate": .number(JSONNumber(at(45).millisecondsSince1970)),
      "data": [
        "bundleId": "com.example", "environment": "Sandbox",
        "signedTransactionInfo": .string(try period(first...(first + 30), line: line, signed: 46)),
        "signedRenewalInfo": .string(try renewal(line: line, signed: first == 70 ? 46 : 47)),
      ],
    ])
    let body = JSONValue.object(["signedPayload": .string(signed)]).serialized()
    _ = try await ledger.ingest(
      IncomingNotification(appID: "ocean", body: body, source: .notification), signedPayload: signed)
  }
}
