internal import SQLite
internal import Store

/// The rows of `told_under`: under which catalog everybody was told the answers. Rare enough to prepare its
/// statements each time.
final class AnswerFingerprintRows {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func fingerprint(of appID: String) throws(StoreError) -> UInt64? {
    let select = try Statement("SELECT fingerprint FROM told_under WHERE app = ?", on: connection)
    try select.bind(1, appID)
    defer { select.reset() }
    return try select.step() ? UInt64(bitPattern: select.number(0)) : nil
  }

  func set(_ fingerprint: UInt64, of appID: String) throws(StoreError) {
    let put = try Statement(
      "INSERT OR REPLACE INTO told_under (app, fingerprint) VALUES (?, ?)", on: connection)
    try put.bind(1, appID)
    try put.bind(2, Int64(bitPattern: fingerprint))
    try put.run()
  }
}
