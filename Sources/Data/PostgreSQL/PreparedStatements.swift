/// The names of the statements that the server of one session has prepared.
struct PreparedStatements {
  /// A text is prepared again for other types of parameters.
  struct Key: Hashable {
    let sql: String
    let types: [UInt32]
  }

  /// Texts beyond this number are not prepared under a name, so that the memory of a session has a limit.
  private static let maxCount = 1000

  private var names: [Key: String] = [:]
  private var lastNumber = 0

  /// Returns the name of a statement, and whether it must be prepared first; `nil` if it should have none.
  mutating func name(of key: Key) -> (name: String, isNew: Bool)? {
    if let name = names[key] { return (name, false) }
    guard names.count < Self.maxCount else { return nil }
    lastNumber += 1
    let name = "s\(lastNumber)"
    names[key] = name
    return (name, true)
  }

  /// Removes a statement that the server may not have prepared or may refuse to run again. Its name is not reused.
  mutating func remove(_ key: Key) { names[key] = nil }
}
