internal import AppStore
internal import Store

/// One transaction: that of a write body, or the snapshot of a read.
///
/// Its extensions prepare a statement on each call (about 10 us), because they run rarely. The statements of
/// frequent operations are prepared once, by the types whose names end in `Rows`.
protocol SQLSession: AnyObject {
  /// Returns the connection, inside the transaction.
  ///
  /// - Throws: the reason to stop, for a read whose deadline passed or whose task was cancelled.
  func use() throws(StoreError) -> any SQLConnection

  /// Returns a statement of a text that never varies, prepared at its first use if the session lasts.
  func statement(once sql: String) throws(StoreError) -> any SQLStatement
}

extension SQLSession {
  func statement(once sql: String) throws(StoreError) -> any SQLStatement { try use().prepare(sql) }

  /// As ``rows(_:_:decode:)``, of a text that never varies.
  func rows<Row>(
    once sql: String, _ values: any StatementValue..., decode: (any SQLStatement) throws(StoreError) -> Row
  ) throws(StoreError) -> [Row] {
    let select = try statement(once: sql)
    try select.bind(values)
    defer { select.reset() }
    var rows: [Row] = []
    while try select.step() { rows.append(try decode(select)) }
    return rows
  }

  /// As ``run(_:_:)``, of a text that never varies.
  func run(once sql: String, _ values: any StatementValue...) throws(StoreError) {
    let statement = try statement(once: sql)
    try statement.bind(values)
    try statement.run()
  }
}

extension SQLSession {
  /// Returns the decoded rows that `sql` selects, with its parameters bound to `values` in order.
  func rows<Row>(
    _ sql: String, _ values: any StatementValue..., decode: (any SQLStatement) throws(StoreError) -> Row
  ) throws(StoreError) -> [Row] {
    try rows(sql, binding: values, decode: decode)
  }

  /// As ``rows(_:_:decode:)``, for callers with variable values.
  func rows<Row>(
    _ sql: String, binding values: [any StatementValue], decode: (any SQLStatement) throws(StoreError) -> Row
  ) throws(StoreError) -> [Row] {
    let select = try use().prepare(sql)
    try select.bind(values)
    defer { select.reset() }
    var rows: [Row] = []
    while try select.step() { rows.append(try decode(select)) }
    return rows
  }

  /// Runs `sql` with its parameters bound to `values` in order.
  func run(_ sql: String, _ values: any StatementValue...) throws(StoreError) {
    let statement = try use().prepare(sql)
    try statement.bind(values)
    try statement.run()
  }

  /// As ``run(_:_:)``. Returns the number of inserted, updated or deleted rows.
  func runCounting(_ sql: String, _ values: any StatementValue...) throws(StoreError) -> Int64 {
    let statement = try use().prepare(sql)
    try statement.bind(values)
    return try statement.runCounting()
  }
}

extension SQLStatement {
  /// Binds all parameters in order.
  fileprivate func bind(_ values: [any StatementValue]) throws(StoreError) {
    var position: CInt = 1
    for value in values { position = try value.bind(to: self, at: position) }
  }

  /// Reads a time in milliseconds since 1970; `nil` for NULL.
  func instant(_ column: CInt) -> Instant? {
    isNull(column) ? nil : Instant(millisecondsSince1970: number(column))
  }

  /// Reads the raw value of a persisted enumeration.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if there is no such case.
  func value<Value: RawRepresentable<String>>(_ column: CInt) throws(StoreError) -> Value {
    let text = text(column) ?? ""
    guard let value = Value(rawValue: text) else {
      throw .corrupt("unknown \(String(reflecting: Value.self)) '\(text)'")
    }
    return value
  }
}

/// A value for one parameter of a statement, or a key for three.
protocol StatementValue {
  /// Binds the value to the parameters from `position` on, and returns the position after them.
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt

  /// Binds NULL, which has a type in some engines.
  static func bindNull(to statement: any SQLStatement, at position: CInt) throws(StoreError)
}

extension StatementValue {
  static func bindNull(to statement: any SQLStatement, at position: CInt) throws(StoreError) {
    try statement.bind(position, String?.none)
  }
}

extension StatementValue where Self: NumberValue {
  static func bindNull(to statement: any SQLStatement, at position: CInt) throws(StoreError) {
    try statement.bind(position, Int64?.none)
  }
}

/// A value that is stored as an integer.
protocol NumberValue: StatementValue {}

extension String: StatementValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try statement.bind(position, self)
    return position + 1
  }
}

extension Int64: NumberValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try statement.bind(position, self)
    return position + 1
  }
}

extension Int: NumberValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try Int64(self).bind(to: statement, at: position)
  }
}

/// 1 or 0.
extension Bool: NumberValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try Int64(self ? 1 : 0).bind(to: statement, at: position)
  }
}

extension [UInt8]: StatementValue {
  static func bindNull(to statement: any SQLStatement, at position: CInt) throws(StoreError) {
    try statement.bind(position, [UInt8]?.none)
  }

  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try statement.bind(position, self)
    return position + 1
  }
}

/// Milliseconds since 1970.
extension Instant: NumberValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try millisecondsSince1970.bind(to: statement, at: position)
  }
}

extension Environment: StatementValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try rawValue.bind(to: statement, at: position)
  }
}

extension EvidenceID: NumberValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try rawValue.bind(to: statement, at: position)
  }
}

/// NULL for `nil`; not for keys.
extension Optional: StatementValue where Wrapped: StatementValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    if let self { return try self.bind(to: statement, at: position) }
    try Wrapped.bindNull(to: statement, at: position)
    return position + 1
  }
}

extension LineKey: StatementValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try statement.bind(position, lineID)
    try statement.bind(position + 1, appID)
    try statement.bind(position + 2, environment.rawValue)
    return position + 3
  }
}

extension CustomerKey: StatementValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try statement.bind(position, customerID)
    try statement.bind(position + 1, appID)
    try statement.bind(position + 2, environment.rawValue)
    return position + 3
  }
}

extension WebhookKey: StatementValue {
  func bind(to statement: any SQLStatement, at position: CInt) throws(StoreError) -> CInt {
    try statement.bind(position, appID)
    try statement.bind(position + 1, kind.rawValue)
    try statement.bind(position + 2, name)
    return position + 3
  }
}
