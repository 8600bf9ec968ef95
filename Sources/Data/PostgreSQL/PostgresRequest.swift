/// A statement with its parameters, to be sent alone or with others.
package struct PostgresRequest: Sendable {
  /// The text, with parameters `$1`, `$2`, ….
  package let sql: String
  /// The parameters from `$1` on.
  package var parameters: [PostgresValue]
  /// The effect of the statement on transactions.
  let effect: StatementEffect

  /// Creates a request. `isReadOnly` states that losing the connection meanwhile loses nothing; by default only a
  /// `SELECT`, `VALUES` or `SHOW` is.
  package init(_ sql: String, _ parameters: [PostgresValue] = [], isReadOnly: Bool = false) {
    self.sql = sql
    self.parameters = parameters
    effect = isReadOnly ? .reads : StatementEffect(sql)
  }

  init(_ sql: String, _ parameters: [PostgresValue], _ effect: StatementEffect) {
    self.sql = sql
    self.parameters = parameters
    self.effect = effect
  }
}

/// The effect of a statement on transactions, which decides what the loss of a connection means.
enum StatementEffect: Sendable {
  case reads, writes, begins, commits, rollsBack

  /// Reads the first word of `sql`. A text that begins a transaction and contains a commit commits.
  init(_ sql: String) {
    let start = sql.utf8.drop {
      $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "(")
    }
    let word = start.prefix { ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") }
    switch String(decoding: word, as: UTF8.self).uppercased() {
    case "SELECT", "VALUES", "SHOW", "EXPLAIN", "SET", "LISTEN", "UNLISTEN": self = .reads
    case "BEGIN", "START": self = sql.uppercased().contains("COMMIT") ? .commits : .begins
    case "COMMIT", "END": self = .commits
    case "ROLLBACK", "ABORT": self = sql.uppercased().contains(" TO ") ? .reads : .rollsBack
    default: self = .writes
    }
  }
}

extension Sequence<StatementEffect> {
  /// Whether statements in this order commit something, if they begin inside a transaction or outside.
  func commit(inTransaction: Bool) -> Bool {
    var isInTransaction = inTransaction
    for effect in self {
      switch effect {
      case .reads: break
      case .writes: if !isInTransaction { return true }
      case .begins: isInTransaction = true
      case .commits: return true
      case .rollsBack: isInTransaction = false
      }
    }
    return false
  }
}
