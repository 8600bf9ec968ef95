internal import AppStore
internal import Store

// Counts of open records by app and environment.
extension SQLSession {
  /// Counts the rows of a table with the columns `app` and `environment` that match a condition.
  func openCounts(in table: String, where condition: String) throws(StoreError) -> [OpenCount] {
    try rows("SELECT app, environment, count(*) FROM \(table) WHERE \(condition) GROUP BY 1, 2") {
      row throws(StoreError) in
      OpenCount(appID: row.text(0) ?? "", environment: try row.value(1), count: row.number(2))
    }
  }

  /// As ``openCounts(in:where:)``, with the earliest time that the rows have in a column.
  func openDuties(
    in table: String, where condition: String, since column: String
  ) throws(StoreError) -> [OpenDuties] {
    try rows(
      "SELECT app, environment, count(*), min(\(column)) FROM \(table) WHERE \(condition) GROUP BY 1, 2"
    ) { row throws(StoreError) in
      OpenDuties(
        appID: row.text(0) ?? "", environment: try row.value(1), count: row.number(2),
        earliest: Instant(millisecondsSince1970: row.number(3)))
    }
  }
}
