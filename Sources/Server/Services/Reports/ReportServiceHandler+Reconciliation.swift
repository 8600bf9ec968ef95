internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Reports
internal import Store
internal import Wire

// Results of comparisons with Apple's reports.
extension ReportServiceHandler {
  private static let maxDays = 1_000
  private static let maxFiles = 100
  private static let maxFileName = 255
  private static let maxDaysOfRuns: Int64 = 31
  private static let maxRuns = 10_000
  /// More than any report has, and small enough for sums.
  private static let maxCount: Int64 = 1_000_000_000_000

  /// Stores the results of a comparison with Apple's reports, 1 to 1,000 days in one write. Each call adds a run;
  /// earlier runs of a day stay.
  func recordReconciliation(
    _ request: RecordReconciliationRequest, _ call: CallContext
  ) async throws(Status) -> RecordReconciliationResponse {
    let (app, environment) = try context.scope(of: request)
    guard (1...Self.maxDays).contains(request.days.count) else {
      throw .invalidField("days", "days has not 1 to \(Self.maxDays) elements")
    }
    let now = context.now(in: environment)
    var results: [Store.ReconciledDay] = []
    for message in request.days { results.append(try Self.result(message, at: now)) }
    try await mapLedgerError { [results] () async throws(LedgerError) in
      try await context.ledger.record(results, of: app.id, in: environment)
    }
    return RecordReconciliationResponse()
  }

  /// Checks one day of a request.
  ///
  /// - Throws: `MISSING_FIELD` or `INVALID_FIELD` with the member.
  private static func result(
    _ message: Wire.ReconciledDay, at now: Instant
  ) throws(Status) -> Store.ReconciledDay {
    guard let day = message.day else { throw .missingField("days.day", "days.day is missing") }
    let start = try Instant(day, "days.day")
    guard ReportDay(start).start == start else {
      throw .invalidResult("day", "is not the start of a day in UTC")
    }
    let isName = message.report.utf8.allSatisfy { (65...90).contains($0) || $0 == 95 }
    guard isName, (1...64).contains(message.report.utf8.count) else {
      throw .invalidResult("report", "is not 1 to 64 capital letters and '_'")
    }
    for (name, count) in message.counts where !(0...maxCount).contains(count) {
      throw .invalidResult(name, "is not 0 to \(maxCount)")
    }
    let areNames = message.files.allSatisfy { name in
      (1...maxFileName).contains(name.utf8.count) && !name.utf8.contains(10)
    }
    guard message.files.count <= maxFiles, areNames else {
      throw .invalidResult(
        "files", "has more than \(maxFiles) names, or one that is not 1 to \(maxFileName) bytes")
    }
    var result = Store.ReconciledDay(day: ReportDay(start), report: message.report, recordedAt: now)
    (result.matched, result.explained) = (message.matched, message.explained)
    (result.unexplained, result.unknownRows) = (message.unexplained, message.unknownRows)
    result.files = message.files
    return result
  }

  /// Returns the last run of each day and report, or with `all_runs` all of them, of at most 31 days.
  func getReconciliation(
    _ request: GetReconciliationRequest, _ call: CallContext
  ) async throws(Status) -> GetReconciliationResponse {
    let (app, environment) = try context.scope(of: request)
    let days = try Reports.ReportQuery.days(request.startTime, request.endTime, prefix: "")
    guard !request.allRuns || days.upperBound.number - days.lowerBound.number <= Self.maxDaysOfRuns else {
      throw Status(
        .invalidArgument, reason: "INVALID_RANGE",
        "end_time is more than \(Self.maxDaysOfRuns) days after start_time, with all_runs", field: "end_time")
    }
    let (first, end) = (days.lowerBound, days.upperBound)
    let results = try await context.read { reader throws(StoreError) in
      guard request.allRuns else {
        return try reader.reconciledDays(from: first, to: end, of: app.id, in: environment)
      }
      return try reader.reconciliationRuns(
        from: first, to: end, of: app.id, in: environment, limit: Self.maxRuns)
    }
    return .with {
      $0.environment = Wire.Environment(environment)
      $0.days = results.map(Wire.ReconciledDay.init)
    }
  }
}

extension Wire.ReconciledDay {
  fileprivate var counts: [(name: String, count: Int64)] {
    [
      ("matched", matched), ("explained", explained), ("unexplained", unexplained),
      ("unknown_rows", unknownRows),
    ]
  }

  fileprivate init(_ result: Store.ReconciledDay) {
    self.init()
    day = GoogleProtobuf.Timestamp(result.day.start)
    (report, run) = (result.report, result.run)
    (matched, explained) = (result.matched, result.explained)
    (unexplained, unknownRows) = (result.unexplained, result.unknownRows)
    files = result.files
    recordedAt = GoogleProtobuf.Timestamp(result.recordedAt)
  }
}

extension Status {
  fileprivate static func invalidResult(_ field: String, _ problem: String) -> Status {
    .invalidField("days.\(field)", "days.\(field) \(problem)")
  }
}
