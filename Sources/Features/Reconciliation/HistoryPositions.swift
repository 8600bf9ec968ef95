internal import AppStoreClient
internal import AppleLookup
internal import Store
internal import Synchronization

/// The positions in Apple's history at which failed lookups ended, so that another attempt continues there. In memory
/// only: after a restart, a history is read from its beginning.
final class HistoryPositions: Sendable {
  private let revisions = Mutex<[LineKey: String]>([:])

  /// Ingests the history and the statuses of the customer of a line, from the position of its last attempt.
  func lookUp(_ line: LineKey, through lookup: PurchaseLookup) async throws(LookupError) {
    var request = PurchaseLookup.Request(
      appID: line.appID, environment: line.environment, transactionID: line.lineID)
    request.priority = .repair
    var revision = revisions.withLock { $0.removeValue(forKey: line) }
    let isContinued = revision != nil
    do throws(LookupError) {
      try await lookup.ingestAll(request, from: &revision)
    } catch {
      if isContinued, error.isFinal {
        // Apple may have refused the position, which is removed.
        return try await lookUp(line, through: lookup)
      }
      revisions.withLock { $0[line] = revision }
      throw error
    }
  }

  /// Discards all positions.
  func removeAll() { revisions.withLock { $0 = [:] } }
}
