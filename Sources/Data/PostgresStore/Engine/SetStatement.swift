internal import PostgreSQL

/// The text of a statement for one row, rewritten for the rows of arrays: its parameters become columns.
enum SetStatement {
  /// Returns a query that runs `sql` for each row of the arrays. Its last column is the number of the row, from 1.
  static func query(_ sql: String, parameterCount: Int) -> String {
    """
    SELECT found.*, batch.place
    FROM unnest(\(list(parameterCount, "$"))) WITH ORDINALITY AS batch (\(list(parameterCount, "p")), place)
    CROSS JOIN LATERAL (\(withColumns(sql))) AS found
    """
  }

  /// Returns the parameters as elements of the arrays.
  static func withColumns(_ sql: String) -> String {
    sql.replacing(#/\$(\d+)/#) { "batch.p\($0.1)" }
  }

  /// The rows of the arrays that are the parameters.
  static func rows(_ count: Int) -> String {
    "unnest(\(list(count, "$"))) AS batch (\(list(count, "p")))"
  }

  private static func list(_ count: Int, _ prefix: String) -> String {
    (1...count).map { "\(prefix)\($0)" }.joined(separator: ", ")
  }
}

/// A statement that changes rows of one table only, as far as its form shows how it can be combined with others.
struct RowStatement {
  let table: String
  /// The text for the rows of arrays; `nil` if the statement runs for one row only.
  let setSQL: String?
  /// The values of the columns that decide about conflicts; `nil` if the statement does not name them.
  private let key: [Expression]?
  /// Whether a row that exists already is left as it is.
  let keepsExisting: Bool

  private enum Expression {
    case parameter(Int)
    case constant(PostgresValue)
  }

  /// Reads a statement; `nil` if it has another form.
  init?(_ sql: String) {
    if let insert = RowStatement(insert: sql) ?? RowStatement(change: sql) {
      self = insert
    } else {
      return nil
    }
  }

  private init(table: Substring, setSQL: String?, key: [Expression]? = nil, keepsExisting: Bool = false) {
    self.table = String(table)
    self.setSQL = setSQL
    self.key = key
    self.keepsExisting = keepsExisting
  }

  /// Reads `INSERT INTO … VALUES (…)` without parameters besides its values.
  private init?(insert sql: String) {
    guard
      let match = sql.wholeMatch(
        of: #/\s*INSERT INTO (\w+)(?: \(([^()]*)\))?\s+VALUES\s+\(([^()]*)\)((?s:.*))/#),
      !match.4.contains("$")
    else { return nil }
    let values = Self.list(match.3)
    let expressions = values.map(Self.expression)
    let parameters = expressions.compactMap { expression -> Int? in
      if case .parameter(let number)? = expression { number } else { nil }
    }
    guard let count = parameters.max(), expressions.allSatisfy({ $0 != nil }) else { return nil }
    let columns = match.2.map(Self.list)
    let target = match.4.firstMatch(of: #/ON CONFLICT \(([^()]*)\)/#).map { Self.list($0.1) }
    let key = target.flatMap { target in
      let key = target.compactMap { name in columns?.firstIndex(of: name).flatMap { expressions[$0] } }
      return key.count == target.count ? key : nil
    }
    // Without the columns of its key, nothing shows which rows an update would meet twice.
    guard key != nil || !match.4.contains("DO UPDATE") else { return nil }
    let names = columns.map { " (\($0.joined(separator: ", ")))" } ?? ""
    let row = SetStatement.withColumns(values.joined(separator: ", "))
    self.init(
      table: match.1,
      setSQL: "INSERT INTO \(match.1)\(names) SELECT \(row) FROM \(SetStatement.rows(count))\(match.4)",
      key: key, keepsExisting: match.4.contains("DO NOTHING"))
  }

  /// Reads `DELETE FROM … WHERE …`, and `UPDATE`, whose order matters.
  private init?(change sql: String) {
    guard !sql.contains("SELECT") else { return nil }
    if let match = sql.wholeMatch(of: #/\s*DELETE FROM (\w+)\s+WHERE ((?s:.*))/#),
      let count = match.2.matches(of: #/\$(\d+)/#).compactMap({ Int($0.1) }).max()
    {
      let condition = SetStatement.withColumns(String(match.2))
      self.init(
        table: match.1,
        setSQL: "DELETE FROM \(match.1) USING \(SetStatement.rows(count)) WHERE \(condition)")
    } else if let match = sql.wholeMatch(of: #/\s*UPDATE (\w+) SET (?s:.*)/#) {
      self.init(table: match.1, setSQL: nil)
    } else {
      return nil
    }
  }

  /// Whether the statement does not name the columns of its key.
  var hasNoKey: Bool { key == nil }

  /// The values of the key's columns in a row; `nil` if the statement does not name them.
  func key(of parameters: [PostgresValue]) -> [PostgresValue]? {
    key?.map { expression in
      switch expression {
      case .parameter(let number): parameters[number - 1]
      case .constant(let value): value
      }
    }
  }

  private static func list(_ text: Substring) -> [String] {
    text.split(separator: ",").map { String($0.filter { !$0.isWhitespace }) }
  }

  /// Reads a parameter, an integer or a literal without quotes inside; `nil` for anything else.
  private static func expression(_ text: String) -> Expression? {
    if text.hasPrefix("$") { return Int(text.dropFirst()).map(Expression.parameter) }
    if let number = Int64(text) { return .constant(.int8(number)) }
    guard text.count >= 2, text.first == "'", text.last == "'" else { return nil }
    return .constant(.text(String(text.dropFirst().dropLast())))
  }
}
