internal import AppStore
internal import SQLite
internal import Store

/// Bounds what strangers can store: everyone who reaches the edge may post documents that do not verify.
///
/// A rejected body is stored only if no evidence has the same content yet, and within a number of bytes a day (UTC) and
/// app. Beyond it the oldest of the day make room: those that a customer submitted keep their row without the body,
/// and those posted by a stranger disappear.
final class RejectedEvidenceRows {
  /// Counted for the row and index entries of one rejected post, in bytes.
  static let rowBytes: Int64 = 512

  private static let millisecondsPerDay: Int64 = 86_400_000

  private let connection: Connection
  /// Bytes a day for each app.
  private let limit: Int64
  private let selectBody: Statement
  private let selectBytes: Statement
  private let updateBytes: Statement
  private let selectOldest: Statement
  private let deleteNotification: Statement
  private let deleteEvidence: Statement
  private let purgeBody: Statement
  /// The dropped pieces by app, since the last commit.
  private(set) var dropped: [String: Int] = [:]

  init(_ connection: Connection, limit: Int64) throws(StoreError) {
    self.connection = connection
    self.limit = limit
    selectBody = try Statement(
      "SELECT 1 FROM evidence WHERE content_hash = ? AND is_found_by_content = 1 AND body NOT NULL LIMIT 1",
      on: connection)
    selectBytes = try Statement("SELECT bytes FROM rejected_bytes WHERE app = ? AND day = ?", on: connection)
    updateBytes = try Statement(
      "INSERT INTO rejected_bytes (app, day, bytes) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET bytes = ?3",
      on: connection)
    // The condition on rejected evidence is that of the index.
    selectOldest = try Statement(
      """
      SELECT evidence_id, ifnull(length(body), 0), source = 'NOTIFICATION' FROM evidence
      WHERE app = ? AND received_at >= ? AND rejection <> '' AND (body NOT NULL OR source = 'NOTIFICATION')
      ORDER BY received_at, evidence_id LIMIT 1
      """, on: connection)
    deleteNotification = try Statement("DELETE FROM notification WHERE evidence_id = ?", on: connection)
    deleteEvidence = try Statement("DELETE FROM evidence WHERE evidence_id = ?", on: connection)
    purgeBody = try Statement(
      "UPDATE evidence SET body = NULL, compression = 0 WHERE evidence_id = ?", on: connection)
  }

  /// Whether the body of rejected content should be stored: not if there is a copy, or no room for it in a day.
  func shouldStore(_ content: EvidenceContent, compressedSize: Int) throws(StoreError) -> Bool {
    guard Int64(compressedSize) + Self.rowBytes <= limit else { return false }
    try selectBody.bind(1, content.hash)
    defer { selectBody.reset() }
    return try !selectBody.step()
  }

  /// Counts rejected evidence that is about to be inserted with `bodyBytes`, and drops the oldest of the day until it
  /// fits.
  func makeRoom(for evidence: Evidence, bodyBytes: Int) throws(StoreError) {
    let day = evidence.receivedAt.millisecondsSince1970 / Self.millisecondsPerDay
    let isStrangers = evidence.source == .notification
    var bytes = try storedBytes(of: evidence.appID, on: day)
    bytes += Int64(bodyBytes) + (isStrangers ? Self.rowBytes : 0)
    while bytes > limit, let freed = try dropOldest(of: evidence.appID, since: day * Self.millisecondsPerDay)
    {
      bytes -= freed
      dropped[evidence.appID, default: 0] += 1
    }
    try updateBytes.bind(1, evidence.appID)
    try updateBytes.bind(2, day)
    try updateBytes.bind(3, max(0, bytes))
    try updateBytes.run()
  }

  /// Returns the dropped pieces by app since the last call.
  func takeDropped() -> [String: Int] {
    defer { dropped = [:] }
    return dropped
  }

  /// Restores ``dropped`` as it was before a body that was rolled back.
  func rolledBack(to earlier: [String: Int]) { dropped = earlier }

  private func storedBytes(of appID: String, on day: Int64) throws(StoreError) -> Int64 {
    try selectBytes.bind(1, appID)
    try selectBytes.bind(2, day)
    defer { selectBytes.reset() }
    return try selectBytes.step() ? selectBytes.number(0) : 0
  }

  /// Returns the freed bytes; `nil` if nothing is left to drop.
  private func dropOldest(of appID: String, since start: Int64) throws(StoreError) -> Int64? {
    try selectOldest.bind(1, appID)
    try selectOldest.bind(2, start)
    guard try selectOldest.step() else {
      selectOldest.reset()
      return nil
    }
    let (id, size, isStrangers) = (
      selectOldest.number(0), selectOldest.number(1), selectOldest.number(2) == 1
    )
    selectOldest.reset()
    for statement in isStrangers ? [deleteNotification, deleteEvidence] : [purgeBody] {
      try statement.bind(1, id)
      try statement.run()
    }
    return size + (isStrangers ? Self.rowBytes : 0)
  }
}
