/// A SQL statement, prepared by the server at its first run in a session, unless PgBouncer is between. It keeps its
/// connection open.
///
/// Creating one costs no round trip: statements with the same text share the server's.
package final class PostgresStatement<Failure: PostgresErrorConvertible> {
  private let connection: PostgresConnection<Failure>
  private let sql: String
  private let effect: StatementEffect
  private var parameters: [PostgresValue] = []
  private var rows: PostgresRows?
  private var row = -1

  /// Creates a statement with parameters `$1`, or `?` and `?1` as SQLite writes them. An error of the text appears at
  /// the first run.
  package init(_ sql: String, on connection: PostgresConnection<Failure>) {
    self.connection = connection
    self.sql = withNumberedParameters(sql)
    effect = StatementEffect(sql)
  }

  /// Steps to the next row. The first step runs the statement and receives all rows.
  ///
  /// - Returns: whether there is a row.
  /// - Throws: only in the first step after a reset.
  package func step() throws(Failure) -> Bool {
    if rows == nil { rows = try connection.query(request) }
    row += 1
    return row < rows?.count ?? 0
  }

  /// Resets the statement, so that it can run again, and releases its rows. The parameters stay bound.
  package func reset() {
    rows = nil
    row = -1
  }

  /// Runs a statement without result rows, and resets it.
  package func run() throws(Failure) {
    reset()
    _ = try connection.query(request)
  }

  /// The statement with the parameters that are bound, to be sent with others by ``PostgresConnection/pipeline(_:)``.
  package var request: PostgresRequest { PostgresRequest(sql, parameters, effect) }

  /// Binds a parameter, counted from 1.
  package func bind(_ position: CInt, _ value: PostgresValue) {
    let index = Int(position) - 1
    while parameters.count <= index { parameters.append(.null(.text)) }
    parameters[index] = value
  }

  /// Binds a text, which must not contain a NUL: PostgreSQL has no such texts.
  package func bind(_ position: CInt, _ text: String) { bind(position, .text(text)) }
  /// Binds a text, or NULL.
  package func bind(_ position: CInt, _ text: String?) { bind(position, .text(orNull: text)) }
  /// Binds a 64-bit integer.
  package func bind(_ position: CInt, _ number: Int64) { bind(position, .int8(number)) }
  /// Binds a 64-bit integer, or NULL.
  package func bind(_ position: CInt, _ number: Int64?) { bind(position, .int8(orNull: number)) }
  /// Binds bytes, or NULL.
  package func bind(_ position: CInt, _ bytes: [UInt8]?) { bind(position, .bytea(orNull: bytes)) }
}

// Columns of the current row, counted from 0.
extension PostgresStatement {
  /// Returns an integer; 0 for NULL.
  package func number(_ column: CInt) -> Int64 { rows?.number(row, column) ?? 0 }

  /// Returns a text; `nil` for NULL.
  package func text(_ column: CInt) -> String? { rows?.text(row, column) }

  /// Returns the bytes of a `bytea`; empty for NULL.
  package func bytes(_ column: CInt) -> [UInt8] { rows?.bytes(row, column) ?? [] }

  /// Whether the value is an integer or a truth value.
  package func isNumber(_ column: CInt) -> Bool { rows?.isNumber(row, column) ?? false }

  /// Whether the value is NULL.
  package func isNull(_ column: CInt) -> Bool { rows?.isNull(row, column) ?? true }
}
