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
      case _ where error.refusesData: .refused(error.description)
      case .conflict: .conflict(error.description)
      case .unavailable, .readOnly: .unavailable(error.description)
      case .outcomeUnknown: .outcomeUnknown(error.description)
      case .overloaded: .overloaded(waiting: 0)
      case .timedOut: .unavailable(error.description)
      case .misuse, .other: .failed(error.description)
      }
  }
}

extension PostgresError {
  /// The classes of errors about the data of a statement: invalid values, violated constraints, such as a row that exists
  /// already, and limits of the server, such as the size of a key.
  private static let classesOfData = ["22", "23", "54"]

  /// Whether the server refused the data of a statement.
  fileprivate var refusesData: Bool {
    (kind == .conflict || kind == .other) && Self.classesOfData.contains { sqlState.hasPrefix($0) }
  }
}

extension StoreError {
  /// Whether a host did not answer; see ``PostgresError/isSilence(_:)``.
  var isSilence: Bool {
    if case .unavailable(let reason) = self { PostgresError.isSilence(reason) } else { false }
  }
}
