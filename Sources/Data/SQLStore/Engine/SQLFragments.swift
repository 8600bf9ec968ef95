internal import AppStore
internal import Store

/// SQL that inserts a row, or replaces the other columns of the row with the same key.
enum Upsert {
  /// Returns the statement, with the values of `columns` as parameters. `key` and `columns` are lists with commas.
  static func sql(_ table: String, key: String, _ columns: String) -> String {
    let names = list(columns)
    let replaced = names.filter { !list(key).contains($0) }.map { "\($0) = excluded.\($0)" }
    return """
      INSERT INTO \(table) (\(columns)) VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
      ON CONFLICT (\(key)) DO UPDATE SET \(replaced.joined(separator: ", "))
      """
  }

  private static func list(_ names: String) -> [String] {
    names.split { ", \n".contains($0) }.map(String.init)
  }
}

extension ClockDomain {
  /// The condition for rows with the column `environment`.
  var condition: String {
    switch self {
    case .all: "TRUE"
    case .sandbox: "environment = '\(Environment.sandbox.rawValue)'"
    case .others: "environment <> '\(Environment.sandbox.rawValue)'"
    }
  }

  /// The conditions of the indexes of due customers: together they are that of the domain. The identity of a customer
  /// contains the environment between two separators.
  func dueCustomerConditions(_ dialect: SQLDialect) -> [String] {
    let found = dialect.contains("identity", CustomerIdentity.marker(of: .sandbox))
    return switch self {
    case .all: ["NOT (\(found))", found]
    case .sandbox: [found]
    case .others: ["NOT (\(found))"]
    }
  }
}
