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
  var identityCondition: String {
    let found = "instr(identity, x'ff' || CAST('\(Environment.sandbox.rawValue)' AS BLOB) || x'ff') > 0"
    return switch self {
    case .all: "TRUE"
    case .sandbox: found
    case .others: "NOT (\(found))"
    }
  }
}
