import AppStore
import Entitlements
import Reports
import Store
import TestSupport
import Testing

/// Contract tests of the purchases that wait for the worker of reports.
@Suite struct ReportQueueContractTests {
  @Test("A queued purchase has what its derivation starts from", arguments: Backend.allCases)
  func queuedPurchases(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        let first = try transaction.append(evidence("a")).id
        let second = try transaction.append(evidence("b")).id
        func own(_ id: String, gained: Bool = true, from evidence: EvidenceID) throws(StoreError) {
          try transaction.record(
            OwnershipChange(
              line: line(id), customerID: "ada", gained: gained, at: at(3), evidenceID: evidence))
        }
        for id in ["L1", "L2", "L3", "L4"] {
          try transaction.index(first, under: line(id))
          try transaction.enqueueForReports(line(id), from: first)
          // Of an app install each, except the last two purchases.
          let install = id == "L3" ? "L4" : id
          let bought = fact("\(id)-1", line: id).with { $0.details.appTransactionID = install }
          _ = try transaction.put(bought, of: line(id), from: first)
        }
        let state = ReportLineState(due: at(9), standing: [1, .max])
        try transaction.put(state, of: line("L2"))
        try own("L2", from: first)
        try own("L3", from: second)
        // Two changes, for which there is a separate statement.
        try own("L4", from: first)
        try own("L4", gained: false, from: second)
        let found = try transaction.queuedPurchases(in: .sandbox, after: nil, limit: 9).map(\.start)
        let due = try transaction.reportsDue(by: at(9), in: .sandbox, limit: 9)
        #expect(due.map(\.line) == [line("L2")])
        #expect(due.map(\.state) == [state] && due.map(\.claims) == [found[1].claims])
        #expect(due.map(\.isOnlyOfPayer) == [true] && due.map(\.hasRefundRequests) == [false])
        #expect(found.map(\.line.lineID) == ["L1", "L2", "L3", "L4"])
        #expect(found.map(\.state) == [ReportLineState(), state, ReportLineState(), ReportLineState()])
        #expect(found.map(\.isOnlyOfPayer) == [true, true, false, false])
        #expect(found.map(\.hasRefundRequests) == [false, false, false, false])
        for purchase in found {
          let claims = try transaction.claims(of: purchase.line)
          #expect(purchase.claims == (purchase.line == line("L4") ? nil : claims))
        }
        let payers = try transaction.payers(of: Set(["L1", "L2", "L3", "L4"].map { line($0) }))
        #expect(
          payers.mapValues { $0.map(\.line.lineID) }
            == [line("L1"): ["L1"], line("L2"): ["L2"], line("L3"): ["L3", "L4"], line("L4"): ["L3", "L4"]])
        for purchase in found {
          let same = payers[purchase.line]?.first { $0.line == purchase.line }
          #expect(same?.state == purchase.state && same?.claims == purchase.claims)
          #expect(same?.isOnlyOfPayer == purchase.isOnlyOfPayer && same?.hasRefundRequests == false)
        }
        try transaction.removeQueuedPurchases(in: .sandbox, after: line("L1"), through: line("L3"))
        #expect(try transaction.reportQueue(in: .sandbox, limit: 9).map(\.line) == [line("L1"), line("L4")])
        try transaction.removeQueuedPurchases(in: .others, after: nil, through: line("L9"))
        try transaction.removeQueuedPurchases(in: .sandbox, after: nil, through: line("L1"))
        #expect(try transaction.reportQueue(in: .sandbox, limit: 9).map(\.line) == [line("L4")])
      }
    }
  }

  @Test("Evidence about a line is queued, and overdue lines are returned", arguments: Backend.allCases)
  func queue(backend: Backend) async throws {
    try await backend.withStore { store in
      let queued = try await store.write { transaction throws(StoreError) in
        let first = try transaction.append(evidence("a")).id
        let second = try transaction.append(evidence("b")).id
        try transaction.enqueueForReports(line("L1"), from: first)
        try transaction.enqueueForReports(line("L2"), from: first)
        try transaction.enqueueForReports(line("L1"), from: second)
        let pending = try transaction.pendingReportEvidence(of: [line("L1"), line("L2"), line("L3")])
        #expect(
          pending.mapValues { $0.map(\.id) }
            == [line("L1"): [first, second], line("L2"): [first], line("L3"): []])
        func page(
          after last: LineKey?, limit: Int = 9, in domain: ClockDomain = .sandbox
        ) throws(StoreError) -> [[EvidenceID]] {
          try transaction.queuedPurchases(in: domain, after: last, limit: limit).map {
            $0.evidence.map(\.id)
          }
        }
        #expect(try page(after: nil) == [[first, second], [first]])
        #expect(try page(after: nil, limit: 1) == [[first]])
        #expect(try page(after: line("L1")) == [[first]])
        #expect(try page(after: nil, in: .others).isEmpty)
        return try transaction.reportQueue(in: .sandbox, limit: 9).map(\.line)
      }
      #expect(queued == [line("L1"), line("L2"), line("L1")])
      let backlog = try await store.snapshot {
        try $0.reportBacklog(of: "ocean", in: .sandbox, at: at(100))
      }
      #expect(backlog.purchases == 2 && backlog.since != nil)
      #expect(
        try await store.snapshot { try $0.nextReportDue(in: .sandbox) { _ in 0 } } == instant(0))
      let due = try await store.write { transaction throws(StoreError) in
        for id in ["L1", "L2"] { try transaction.removeReportEvidence(of: line(id)) }
        let state = ReportLineState(due: at(5), standing: [1, .max])
        try transaction.put(state, of: line("L1"))
        try transaction.put(ReportLineState(standing: [7]), of: line("L2"))
        let payers = try transaction.payers(of: [line("L1"), line("L3")])
        #expect(payers[line("L1")]?.map(\.state) == [state])
        #expect(payers[line("L3")]?.map(\.state) == [ReportLineState()])
        return try transaction.reportsDue(by: at(5), in: .sandbox, limit: 9).map(\.line)
      }
      #expect(due == [line("L1")])
      for (day, since) in [(Int64(4), nil), (5, at(5)), (9, at(5))] as [(Int64, Instant?)] {
        let backlog = try await store.snapshot {
          try $0.reportBacklog(of: "ocean", in: .sandbox, at: at(day))
        }
        #expect(backlog == ReportBacklog(purchases: 0, since: since))
      }
      let other = try await store.snapshot {
        try $0.reportBacklog(of: "ocean", in: .production, at: at(9))
      }
      #expect(other == ReportBacklog(purchases: 0, since: nil))
      #expect(try await store.snapshot { try $0.nextReportDue(in: .sandbox) { _ in 0 } } == at(5))
    }
  }
}
