package import AppStore
internal import Ledger
internal import SignedData
package import Store

/// Compares, line by line, what both versions of Apple's notifications told in a time.
package struct VersionComparisonReport: Sendable {
  /// So many notifications about one line are read.
  private static let limit = 1_000

  /// When the notifications were received.
  package let from: Instant
  package let to: Instant

  /// A report of what was received from a moment on and before another.
  package init(from: Instant, to: Instant) {
    self.from = from
    self.to = to
  }

  /// At most `limit` lines that were told of, beginning behind `line`.
  package func lines(
    of appID: String, in environment: Environment, after line: String, limit: Int,
    _ reader: any StoreSnapshot
  ) throws(StoreError) -> [LineKey] {
    try reader.notifiedLines(
      of: appID, in: environment, from: from, to: to, after: line, limit: limit)
  }

  /// What both versions told of a line.
  package func comparison(of line: LineKey, _ reader: any StoreSnapshot) throws(StoreError)
    -> VersionComparison
  {
    var (version1, version2) = (PurchaseSummary(), PurchaseSummary())
    for record in try reader.notifications(about: line, from: from, to: to, limit: Self.limit) {
      guard let body = try reader.evidence(record.evidenceID)?.evidence.content.body else { continue }
      switch NotificationBody(body) {
      case .unsigned(let body): version1.take(body, about: line.originalTransactionID)
      case .signed(let text): Self.take(text, into: &version2)
      case .unreadable: continue
      }
    }
    return VersionComparison(version1: version1, version2: version2)
  }

  /// Its verification is not repeated: what was not genuine is not read.
  private static func take(_ text: String, into told: inout PurchaseSummary) {
    guard let payload = inner(text, ResponseBodyV2DecodedPayload.self) else { return }
    told.take(
      payload, inner(payload.data?.signedTransactionInfo, JWSTransactionDecodedPayload.self),
      inner(payload.data?.signedRenewalInfo, JWSRenewalInfoDecodedPayload.self))
  }

  private static func inner<Payload: DecodedPayload>(
    _ text: String?, _ type: Payload.Type
  ) -> Payload? {
    guard let text, let jws = try? UnverifiedJWS(text) else { return nil }
    return try? Payload(json: jws.payload)
  }
}
