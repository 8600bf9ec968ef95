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
  /// An answer is kept for this multiple of the time that its computation took.
  private static let keptFactor: Int64 = 20
  /// The maximum time for which an answer is kept, in milliseconds.
  private static let maxKept: Int64 = 600_000

  private let answers = Mutex(ReportAnswerCache())

  /// The answer to a request of the person's caller.
  func answer(_ request: QueryReportRequest, _ visit: Visit) async throws(Status) -> QueryReportResponse {
    let key = ReportAnswerCache.Key(caller: visit.person.caller.name, request: request.encodedBytes())
    if let known = answers.withLock({ $0.answer(to: key, at: visit.now) }) { return known }
    let start = ContinuousClock.now
    let response = try await visit.call(Calls.queryReport, request)
    let took = start.duration(to: .now).components
    let milliseconds = took.seconds * 1_000 + took.attoseconds / 1_000_000_000_000_000
    let until = visit.now.advanced(
      byMilliseconds: milliseconds + min(Self.maxKept, Self.keptFactor * milliseconds))
    answers.withLock { $0.insert(response, for: key, until: until, at: visit.now) }
    return response
  }
}

/// Answers with the times until which they are used, up to a number of bytes.
struct ReportAnswerCache {
  struct Key: Hashable {
    let caller: String
    let request: [UInt8]
  }

  private struct Entry {
    let response: QueryReportResponse
    let until: Instant
    let size: Int
  }

  private var entries: [Key: Entry] = [:]
  /// The size of all requests and answers, encoded.
  private(set) var size = 0
  private let limit: Int

  init(limit: Int = 32 << 20) { self.limit = limit }

  /// The stored answer; `nil` without one that is used at `now`.
  func answer(to key: Key, at now: Instant) -> QueryReportResponse? {
    entries[key].flatMap { now < $0.until ? $0.response : nil }
  }

  /// Stores an answer. It removes those that are no longer used, then those that are used the shortest; an answer that is larger than
  /// the limit is not stored.
  mutating func insert(_ response: QueryReportResponse, for key: Key, until: Instant, at now: Instant) {
    let size = key.request.count + response.encodedBytes().count
    remove(key)
    guard size <= limit else { return }
    if self.size + size > limit {
      for (key, entry) in entries where entry.until <= now { remove(key) }
    }
    while self.size + size > limit, let next = entries.min(by: { $0.value.until < $1.value.until }) {
      remove(next.key)
    }
    entries[key] = Entry(response: response, until: until, size: size)
    self.size += size
  }

  private mutating func remove(_ key: Key) {
    if let removed = entries.removeValue(forKey: key) { size -= removed.size }
  }
}
