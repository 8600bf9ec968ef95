internal import AppStore
internal import Store

/// Bounds what strangers can store: everyone who reaches the edge may post documents that do not verify.
///
/// A rejected body is stored only if no evidence has the same content yet, and within a number of bytes a day (UTC) and
/// app. Beyond it the oldest bodies of the day make room; their rows stay, because other rows may refer to them. Once
/// the rows of strangers' posts alone reach the limit, no more of them are stored on that day.
final class RejectedEvidenceRows {
  /// Counted for the row and index entries of one rejected post, in bytes.
  static let rowBytes: Int64 = 512

  /// Bytes a day for each app.
  private let limit: Int64
  private let selectCopy: any SQLStatement
  private let selectUsage: any SQLStatement
  private let updateUsage: any SQLStatement
  private let selectOldest: any SQLStatement
  private let purgeBody: any SQLStatement
  /// The dropped bodies by app, since the last commit.
  private(set) var dropped: [String: Int] = [:]

  init(_ connection: any SQLConnection, limit: Int64) throws(StoreError) {
    self.limit = limit
    selectCopy = try connection.prepare(
      "SELECT 1 FROM evidence WHERE content_hash = ? AND is_found_by_content = 1 AND body IS NOT NULL LIMIT 1"
    )
    selectUsage = try connection.prepare(
      "SELECT bytes, posts FROM rejected_usage WHERE app = ? AND day = ?")
    updateUsage = try connection.prepare(
      """
      INSERT INTO rejected_usage (app, day, bytes, posts) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (app, day) DO UPDATE SET bytes = excluded.bytes, posts = excluded.posts
      """)
    // The condition on rejected evidence is that of the index.
    selectOldest = try connection.prepare(
      """
      SELECT evidence_id, length(body) FROM evidence
      WHERE app = ? AND received_at >= ? AND rejection <> '' AND body IS NOT NULL AND evidence_id <> ?
      ORDER BY received_at, evidence_id LIMIT 1
      """)
    purgeBody = try connection.prepare(
      "UPDATE evidence SET body = NULL, compression = 0 WHERE evidence_id = ?")
  }

  /// Whether another rejected post of a stranger may be stored on the day of `instant`.
  func hasRoomForPost(to appID: String, at instant: Instant) throws(StoreError) -> Bool {
    let usage = try usage(of: appID, on: Self.day(of: instant))
    return (usage.posts + 1) * Self.rowBytes <= limit
  }

  /// Whether the body of rejected content should be stored: not if there is a copy, or no room for it in a day.
  func shouldStore(_ content: EvidenceContent, compressedSize: Int) throws(StoreError) -> Bool {
    guard Int64(compressedSize) + Self.rowBytes <= limit else { return false }
    try selectCopy.bind(1, content.hash)
    defer { selectCopy.reset() }
    return try !selectCopy.step()
  }

  /// Counts rejected evidence that was inserted with `bodyBytes`, and drops the oldest other bodies of the day until it
  /// fits.
  func makeRoom(for id: EvidenceID, _ evidence: Evidence, bodyBytes: Int) throws(StoreError) {
    let day = Self.day(of: evidence.receivedAt)
    var usage = try usage(of: evidence.appID, on: day)
    usage.bytes += Int64(bodyBytes)
    if evidence.source == .notification { usage.posts += 1 }
    while usage.bytes + usage.posts * Self.rowBytes > limit,
      let freed = try dropOldest(of: evidence.appID, since: day * Instant.millisecondsPerDay, except: id)
    {
      usage.bytes = max(0, usage.bytes - freed)
      dropped[evidence.appID, default: 0] += 1
    }
    try updateUsage.bind(1, evidence.appID)
    try updateUsage.bind(2, day)
    try updateUsage.bind(3, usage.bytes)
    try updateUsage.bind(4, usage.posts)
    try updateUsage.run()
  }

  /// Returns the dropped bodies by app since the last call.
  func takeDropped() -> [String: Int] {
    defer { dropped = [:] }
    return dropped
  }

  /// Restores ``dropped`` as it was before a write that was rolled back.
  func rolledBack(to earlier: [String: Int]) { dropped = earlier }

  private static func day(of instant: Instant) -> Int64 {
    instant.millisecondsSince1970 / Instant.millisecondsPerDay
  }

  /// The bytes of the stored bodies, and the number of strangers' posts.
  private func usage(of appID: String, on day: Int64) throws(StoreError) -> (bytes: Int64, posts: Int64) {
    try selectUsage.bind(1, appID)
    try selectUsage.bind(2, day)
    defer { selectUsage.reset() }
    return try selectUsage.step() ? (selectUsage.number(0), selectUsage.number(1)) : (0, 0)
  }

  /// Returns the freed bytes; `nil` if no body is left.
  private func dropOldest(
    of appID: String, since start: Int64, except newest: EvidenceID
  ) throws(StoreError) -> Int64? {
    try selectOldest.bind(1, appID)
    try selectOldest.bind(2, start)
    try selectOldest.bind(3, newest.rawValue)
    guard try selectOldest.step() else {
      selectOldest.reset()
      return nil
    }
    let (id, size) = (selectOldest.number(0), selectOldest.number(1))
    selectOldest.reset()
    try purgeBody.bind(1, id)
    try purgeBody.run()
    return size
  }
}
