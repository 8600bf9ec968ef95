import Reports
import Store
import TestSupport
import Testing

/// Contract tests of the results of a reconciliation with Apple's reports.
@Suite struct ReconciledDayContractTests {
  private static func result(
    _ day: Int64, _ report: String, run: Int64 = 1, matched: Int64, files: [String] = []
  ) -> ReconciledDay {
    var result = ReconciledDay(day: ReportDay(at(day)), report: report, recordedAt: at(90))
    result.run = run
    (result.matched, result.explained, result.unexplained, result.unknownRows) = (matched, 1, 2, 3)
    result.files = files
    return result
  }

  @Test(
    "Results of a reconciliation are appended, and the latest of a report and day counts",
    arguments: Backend.allCases)
  func reconciliation(backend: Backend) async throws {
    try await backend.withStore { store in
      let first = Self.result(3, "SALES", matched: 5)
      let second = Self.result(3, "SALES", run: 2, matched: 7, files: ["a b.txt", "c.txt.gz"])
      let financial = Self.result(3, "FINANCIAL", matched: 0)
      try await store.write { transaction throws(StoreError) in
        for one in [first, Self.result(4, "SALES", matched: 1), second, financial] {
          try transaction.append(one, of: "ocean", in: .sandbox)
        }
        try transaction.append(Self.result(3, "SALES", matched: 9), of: "ocean", in: .production)
      }
      let days = (ReportDay(at(3)), ReportDay(at(4)))
      let (latest, all, two) = try await store.snapshot { reader in
        (
          try reader.reconciledDays(from: days.0, to: days.1, of: "ocean", in: .sandbox),
          try reader.reconciliationRuns(from: days.0, to: days.1, of: "ocean", in: .sandbox, limit: 9),
          try reader.reconciliationRuns(from: days.0, to: days.1, of: "ocean", in: .sandbox, limit: 2)
        )
      }
      #expect(latest == [financial, second])
      #expect(all == [financial, second, first] && two == [financial, second])
    }
  }
}
