internal import AppStore
internal import Store

// The installations of purchases.
extension SQLSession {
  func installations(of line: LineKey, on day: Int64) throws(StoreError) -> Set<[UInt8]> {
    Set(
      try rows(
        "SELECT installation FROM installation WHERE line_id = ? AND app = ? AND environment = ? AND day = ?",
        line, day
      ) { $0.bytes(0) })
  }
}

extension SQLTransaction {
  func put(_ installation: Installation) throws(StoreError) {
    try run(
      "INSERT INTO installation VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", installation.line,
      installation.day,
      installation.id)
  }

  @discardableResult
  func deleteInstallations(
    of appID: String, in environment: Environment, before day: Int64, limit: Int
  ) throws(StoreError) -> Int {
    let deleted = try runCounting(
      """
      DELETE FROM installation WHERE (line_id, app, environment, day, installation) IN (
        SELECT line_id, app, environment, day, installation FROM installation
        WHERE app = ? AND environment = ? AND day < ? ORDER BY day LIMIT ?)
      """, appID, environment, day, limit)
    return Int(deleted)
  }

  func eraseInstallations(of line: LineKey) throws(StoreError) -> Int64 {
    try runCounting("DELETE FROM installation WHERE line_id = ? AND app = ? AND environment = ?", line)
  }
}
