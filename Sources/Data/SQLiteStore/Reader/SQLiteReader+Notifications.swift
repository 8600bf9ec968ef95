internal import AppStore
internal import SQLite
internal import Store

// Which notifications arrived, in the order in which they did.
extension SQLiteReader {
  func notifications(
    of appID: String, after evidence: EvidenceID, limit: Int
  ) throws(StoreError) -> [NotificationRecord] {
    try beginTurn()
    return try NotificationQueries(connection).arrivals(of: appID, after: evidence, limit: limit)
  }

  func lastNotification() throws(StoreError) -> Int64 {
    try beginTurn()
    return try connection.number("SELECT ifnull(max(evidence_id), 0) FROM notification")
  }

  func notifiedLines(
    of appID: String, in environment: Environment, from start: Instant, to end: Instant,
    after line: String, limit: Int
  ) throws(StoreError) -> [LineKey] {
    try beginTurn()
    return try NotificationQueries(connection).lines(
      of: appID, in: environment, from: start, to: end, after: line, limit: limit)
  }

  func notifications(
    about line: LineKey, from start: Instant, to end: Instant, limit: Int
  ) throws(StoreError) -> [NotificationRecord] {
    try beginTurn()
    return try NotificationQueries(connection).about(line, from: start, to: end, limit: limit)
  }
}
