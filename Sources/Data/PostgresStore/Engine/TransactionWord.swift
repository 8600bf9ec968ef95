/// The statements that begin and end transactions, as this package writes them.
enum TransactionWord {
  case begin, commit, savepoint, rollbackToSavepoint

  init?(_ sql: String) {
    if sql.hasPrefix("BEGIN") {
      self = .begin
    } else if sql.hasPrefix("COMMIT") {
      self = .commit
    } else if sql.hasPrefix("SAVEPOINT") {
      self = .savepoint
    } else if sql.hasPrefix("ROLLBACK TO") {
      self = .rollbackToSavepoint
    } else {
      return nil
    }
  }
}
