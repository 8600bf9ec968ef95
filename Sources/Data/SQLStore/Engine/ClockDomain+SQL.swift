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

  /// The condition for rows of `customer`, whose identity contains the environment between two separators.
  func identityCondition(_ dialect: SQLDialect) -> String {
    let found = dialect.contains("identity", CustomerIdentity.marker(of: .sandbox))
    return switch self {
    case .all: "TRUE"
    case .sandbox: found
    case .others: "NOT (\(found))"
    }
  }
}
