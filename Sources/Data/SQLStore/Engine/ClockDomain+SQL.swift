internal import AppStore
internal import Store

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
