package import PostgreSQL
package import Store

extension StoreError: PostgresErrorConvertible {
  /// Converts an error of PostgreSQL.
  package init(_ error: PostgresError) {
    self =
      switch error.kind {
      case _ where error.sqlState == "53100": .diskFull
      case _ where ["XX001", "XX002"].contains(error.sqlState): .corrupt(error.message)
      // The division by zero of a commit that is not the writer's next one.
      case _ where error.sqlState == "22012": .anotherWriter
      // A row that exists already is an error of the body, as in SQLite.
      case .conflict where error.sqlState == "23505": .failed(error.description)
      case .conflict: .conflict(error.description)
      case .unavailable, .readOnly: .unavailable(error.description)
      case .outcomeUnknown: .outcomeUnknown(error.description)
      case .overloaded: .overloaded(waiting: 0)
      case .timedOut: .unavailable(error.description)
      case .misuse, .other: .failed(error.description)
      }
  }
}

extension StoreError {
  /// Whether a host did not answer; see ``PostgresError/isSilence(_:)``.
  var isSilence: Bool {
    if case .unavailable(let reason) = self { PostgresError.isSilence(reason) } else { false }
  }
}
