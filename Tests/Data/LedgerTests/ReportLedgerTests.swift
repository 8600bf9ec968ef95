import AppStore
import Entitlements
import JSON
import Ledger
import Reporting
import Reports
import Store
import Synchronization
import TestSupport
import Testing

/// Postings, closed days and revisions that follow from evidence.
@Suite struct ReportLedgerTests {
  private static let priced: JSONObject = ["price": 9_990, "currency": "USD", "storefront": "USA"]

  private func charged(_ changes: JSONObject = [:]) -> JSONObject {
    var all = Self.priced
    for (name, value) in changes { all[name] = value }
    return all
  }

  @Test("A refund that is learned after its day closed revises that day and leaves its first figures")
  func lateRefund() async throws {
    try await LedgerFixture.run { fixture in
      try await fixture.live(until: 50) { day in
        if day == 40 { _ = try await fixture.submit(fixture.period(40...70, charged())) }
      }
      #expect(try await fixture.active(on: 45) == 1)
      try await fixture.live(from: 51, until: 60) { day in
        guard day == 55 else { return }
        let refund = charged(["revocationDate": date(46), "revocationReason": 0])
        _ = try await fixture.submit(fixture.period(40...70, signed: 55, refund))
      }
      #expect(try await fixture.active(on: 48, .firstClosed) == 1)
      #expect(try await fixture.active(on: 48) == 0)
      #expect(try await fixture.active(on: 48, .whenClosed(reportDay(54))) == 1)
      #expect(try await fixture.active(on: 48, .whenClosed(reportDay(55))) == 0)
      let revisions = try await fixture.revisions()
      #expect(revisions.map(\.day) == [reportDay(46)])
      #expect(revisions.map(\.knownDay) == [reportDay(55)])
      #expect(revisions.first?.causes["REFUND_LEARNED_LATE"] != nil)
    }
  }

  @Test("Evidence that waited over closings counts in the closing before which it was known")
  func lateWorker() async throws {
    try await LedgerFixture.run { fixture in
      fixture.clock.set(at(40))
      _ = try await fixture.submit(fixture.period(40...70, charged()))
      fixture.clock.set(at(43))
      _ = try await fixture.submit(fixture.period(40...70, line: "L2", charged()), for: "ben")
      fixture.clock.set(at(70))
      _ = try await fixture.submit(fixture.period(70...100, charged()))
      fixture.clock.set(at(75))
      try await fixture.reports.run()
      // L1 on its day; L2 was bought on the same day, and known three days later.
      #expect(try await fixture.active(on: 40, .firstClosed) == 1)
      #expect(try await fixture.active(on: 42, .firstClosed) == 1)
      #expect(try await fixture.active(on: 43, .firstClosed) == 2)
      // L2 lapsed by time alone, on its day.
      #expect(try await fixture.active(on: 70, .firstClosed) == 1)
      #expect(try await fixture.revisions().map(\.day) == [reportDay(40)])
      let closed = try await fixture.store.snapshot { try $0.lastClosedDay(of: "ocean", in: .sandbox) }
      #expect(closed == reportDay(74))
    }
  }

  @Test("Days that a clock passed at once are closed in several writes")
  func manyDays() async throws {
    try await LedgerFixture.run { fixture in
      fixture.clock.set(at(40))
      _ = try await fixture.submit(fixture.period(40...70, charged()))
      try await fixture.reports.run()
      fixture.clock.set(at(400))
      let store = CountingStore(store: fixture.store)
      try await fixture.reports(in: store).run()
      let closed = try await fixture.store.snapshot { try $0.lastClosedDay(of: "ocean", in: .sandbox) }
      #expect(closed == reportDay(399))
      // Four close a hundred days or less each; the others pack the sums of a month each.
      #expect(store.writes.load(ordering: .relaxed) == 4 + 13)
    }
  }

  @Test("The first posting is that of the evidence that arrived first, whatever the order of the purchases")
  func firstEvidence() async throws {
    try await LedgerFixture.run { fixture in
      fixture.clock.set(at(40))
      _ = try await fixture.submit(fixture.period(40...70, line: "L9", charged()), for: "ben")
      fixture.clock.set(at(43))
      _ = try await fixture.submit(fixture.period(43...73, line: "L1", charged()))
      fixture.clock.set(at(60))
      try await fixture.reports.run()
      #expect(try await fixture.active(on: 40, .firstClosed) == 1)
      #expect(try await fixture.active(on: 43, .firstClosed) == 2)
      #expect(try await fixture.revisions().isEmpty)
    }
  }

  @Test("A lapse without word from Apple is in the first closing of its day")
  func silentLapse() async throws {
    try await LedgerFixture.run { fixture in
      try await fixture.live(until: 75) { day in
        if day == 40 { _ = try await fixture.submit(fixture.period(40...70, charged())) }
      }
      #expect(try await fixture.active(on: 69, .firstClosed) == 1)
      #expect(try await fixture.values("movements", on: 70, .firstClosed)["lapsed_other"] == 1)
      #expect(try await fixture.revisions().isEmpty)
    }
  }

  @Test(
    "A rebuild gives the same figures, closings and revisions, whatever the documents and their order",
    arguments: [1, 3, 200])
  func rebuild(batchSize: Int) async throws {
    try await LedgerFixture.run { fixture in
      try await fixture.live(until: 130) { day in try await random(day, fixture) }
      let before = try await fixture.everything()
      #expect(!before.revisions.isEmpty)
      try await fixture.reports(inBatchesOf: batchSize).rebuild()
      let after = try await fixture.everything()
      #expect(after == before)
    }
  }

  /// Documents of eight purchases, some of which arrive days late.
  private func random(_ day: Int64, _ fixture: LedgerFixture) async throws {
    for line in Int64(0)..<8 {
      let start = 30 + line * 3
      let install: JSONObject = ["appTransactionId": .string("A\(line / 2)")]
      let id = "L\(line)"
      func submit(_ days: ClosedRange<Int64>, _ changes: JSONObject = [:]) async throws {
        var all = charged(install)
        for (name, value) in changes { all[name] = value }
        _ = try await fixture.submit(fixture.period(days, line: id, signed: day, all), for: id)
      }
      // The third period is known four days late; of every third purchase the second is refunded, known six days late.
      if day == start { try await submit(start...start + 30) }
      if day == start + 30 { try await submit(start + 30...start + 60) }
      if day == start + 64, line % 2 == 0 { try await submit(start + 60...start + 90) }
      if day == start + 46, line % 3 == 0 {
        try await submit(start + 30...start + 60, ["revocationDate": date(start + 40)])
      }
    }
  }

  @Test("Withdrawn consents count on their day, each with its settlement, also after a rebuild")
  func consents() async throws {
    try await LedgerFixture.run { fixture in
      try await fixture.live(until: 90) { day in
        switch day {
        case 40, 52: try await fixture.notify("RESCIND_CONSENT", signed: day, appInstall: "I1")
        case 45: _ = try await fixture.ledger.settleConsentWithdrawal(of: "I1", fixture.scope)
        default: break
        }
      }
      let query = ReportQuery(.consents, from: reportDay(30), to: reportDay(100))
      let table = { () async throws -> ReportTable in
        try await fixture.store.snapshot { reader in
          try ReportTable(query, try reader.reportSums(query, of: "ocean", in: .sandbox))
        }
      }
      let before = try await table()
      #expect(before.rows.map(\.bucket) == [reportDay(40), reportDay(52)])
      // Withdrawn, settled, overdue, open. The deadline of the second one was on day 82.
      #expect(before.rows.map(\.values) == [[1, 1, 0, 0], [1, 0, 1, 1]])
      try await fixture.reports.rebuild()
      #expect(try await table() == before)
    }
  }

  @Test("A closing whose movements do not explain its stocks is recorded with its day")
  func brokenIdentity() async throws {
    try await LedgerFixture.run { fixture in
      let brokenDays = { () async throws -> [ReportDay] in
        try await fixture.store.snapshot { reader in
          try reader.brokenDays(
            from: reportDay(30), to: reportDay(90), knownBy: nil, of: "ocean", in: .sandbox)
        }
      }
      try await fixture.live(until: 80) { day in
        if day == 40 { _ = try await fixture.submit(fixture.period(40...70, charged())) }
      }
      #expect(try await brokenDays().isEmpty)
      // An active subscription that nothing brought, in the sums alone.
      var posting = Posting(
        .active, at: at(81), line: "L1", transactionID: "1", Posting.Dimensions(productID: "monthly"))
      posting.count = 1
      let cells = posting.cells
      try await fixture.store.write { store throws(StoreError) in
        try store.add(cells, known: reportDay(81), of: "ocean", in: .sandbox)
      }
      try await fixture.live(from: 81, until: 85) { _ in }
      #expect(try await brokenDays() == [reportDay(81)])
      // They are compared again after the sums changed, and what was recorded before does not stay.
      try await fixture.store.write { store throws(StoreError) in
        try store.recordAllBreaks(of: "ocean", in: .sandbox)
      }
      #expect(try await brokenDays() == [reportDay(81)])
      try await fixture.reports.rebuild()
      #expect(try await brokenDays().isEmpty, "the subscription is in no evidence")
    }
  }

  @Test("Another catalog revises closed days with its cause, and the first figures stay")
  func catalogChange() async throws {
    try await LedgerFixture.run { fixture in
      try await fixture.live(until: 50) { day in
        if day == 40 { _ = try await fixture.submit(fixture.period(40...70, charged())) }
      }
      fixture.catalog.replace(
        with: Catalog([
          AppDefinition(
            id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil),
            environments: [.sandbox],
            products: [
              ProductDefinition(
                productID: "monthly", type: .autoRenewableSubscription, subscriptionGroup: "other",
                entitlements: ["pro"])
            ])
        ]))
      try await fixture.reports.run()
      #expect(try await fixture.values("mrr", on: 45)["closing"] == 119_880)
      let query = ReportQuery(
        .subscriptions, from: reportDay(45), to: reportDay(46), groupBy: [.group])
      let groups = try await fixture.store.snapshot { reader in
        try ReportTable(query, try reader.reportSums(query, of: "ocean", in: .sandbox)).rows.map(\.groups)
      }
      #expect(groups == [["other"]])
      let causes = try await fixture.revisions().flatMap { Array($0.causes.keys) }
      #expect(Set(causes) == ["CATALOG_CHANGED"])
      try await fixture.reports.run()
      #expect(try await fixture.revisions().count == 1)
    }
  }
}

private func date(_ day: Int64) -> JSONValue {
  .number(JSONNumber(at(day).millisecondsSince1970))
}

private func reportDay(_ day: Int64) -> ReportDay { ReportDay(at(day)) }

/// Counts the writes.
private final class CountingStore: StoreWrapper {
  let store: any EntitlementStore
  let writes = Atomic(0)

  init(store: any EntitlementStore) { self.store = store }

  func write<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    writes.add(1, ordering: .relaxed)
    return try await store.write(body)
  }
}

/// All that reports rest on.
private struct Everything: Equatable {
  var tables: [ReportTable] = []
  var revisions: [ReportRevision] = []
  var closed: ReportDay?
}

extension LedgerFixture {
  fileprivate var reports: ReportLedger { reports() }

  fileprivate func reports(
    in store: (any EntitlementStore)? = nil, inBatchesOf size: Int = 200
  ) -> ReportLedger {
    ReportLedger(
      store: store ?? self.store, catalog: catalog, clock: ServiceClock { [clock] in clock.now },
      batchSize: size)
  }

  /// Calls `body` on each day, and derives the postings of it.
  fileprivate func live(
    from first: Int64 = 30, until last: Int64, _ body: (Int64) async throws -> Void
  ) async throws {
    for day in first...last {
      clock.set(at(day))
      try await body(day)
      try await reports.run()
    }
  }

  fileprivate func values(
    _ name: String, on day: Int64, _ knowledge: ReportQuery.Knowledge = .now
  ) async throws -> [String: Int64] {
    let name = try #require(Report.Name(rawValue: name))
    let query = ReportQuery(name, from: reportDay(day), to: reportDay(day + 1), knowledge: knowledge)
    let row = try await store.snapshot { reader in
      try ReportTable(query, try reader.reportSums(query, of: "ocean", in: .sandbox)).rows.first
    }
    let values = row?.values ?? Array(repeating: 0, count: query.report.columns.count)
    return Dictionary(
      zip(query.report.columns.map(\.name), values).map { ($0, $1) }, uniquingKeysWith: { $1 })
  }

  fileprivate func active(
    on day: Int64, _ knowledge: ReportQuery.Knowledge = .now
  ) async throws -> Int64? {
    try await values("subscriptions", on: day, knowledge)["active"]
  }

  fileprivate func revisions() async throws -> [ReportRevision] {
    try await store.snapshot { reader in
      try reader.reportRevisions(
        from: reportDay(0), to: reportDay(400), ofStocks: false, knownBy: nil, of: "ocean", in: .sandbox)
    }
  }

  /// Each report by product, as known now and, where there is one, as first closed.
  fileprivate func everything() async throws -> Everything {
    var everything = Everything(revisions: try await revisions())
    for name in Report.Name.allCases {
      for knowledge in [ReportQuery.Knowledge.now, .firstClosed, .whenClosed(reportDay(100))] {
        let query = ReportQuery(
          name, from: reportDay(20), to: reportDay(140), groupBy: [.product], knowledge: knowledge)
        guard knowledge != .firstClosed || query.report.cohortKinds.isEmpty else { continue }
        everything.tables.append(
          try await store.snapshot { reader in
            try ReportTable(query, try reader.reportSums(query, of: "ocean", in: .sandbox))
          })
      }
    }
    everything.closed = try await store.snapshot { try $0.lastClosedDay(of: "ocean", in: .sandbox) }
    return everything
  }
}
