internal import AppStore
internal import Callers
internal import RPC
internal import Synchronization
internal import Wire

/// The latest answers of reports. Those of a large store take longer than a page may, and people load charts again and again.
///
/// An answer is kept for twenty times as long as it took, at most ten minutes, so a quick one is always new; the page has
/// the time of the answer. ``ReportPage`` makes a call about the app before, which refuses callers who may not see it.
final class ReportAnswers: Sendable {
  private struct Key: Hashable {
    let caller: String
    let request: [UInt8]
  }

  private static let factor: Int64 = 20
  private static let longest: Int64 = 600_000
  private static let limit = 100

  private let answers = Mutex<[Key: (response: QueryReportResponse, until: Instant)]>([:])

  /// The answer to a request of the person's caller.
  func answer(_ request: QueryReportRequest, _ visit: Visit) async throws(Status) -> QueryReportResponse {
    let key = Key(caller: visit.person.caller.name, request: request.encodedBytes())
    if let known = answers.withLock({ $0[key] }), visit.now < known.until { return known.response }
    let start = ContinuousClock.now
    let response = try await visit.call(Calls.queryReport, request)
    let took = start.duration(to: .now).components
    let milliseconds = took.seconds * 1_000 + took.attoseconds / 1_000_000_000_000_000
    let until = visit.now.advanced(
      byMilliseconds: milliseconds + min(Self.longest, Self.factor * milliseconds))
    answers.withLock { answers in
      if answers.count >= Self.limit { answers.removeAll(keepingCapacity: true) }
      answers[key] = (response, until)
    }
    return response
  }
}
