/// Why a JSON object is not one of Apple's payloads. Names the member, with the path to it if it is in
/// another (`data.status`); never quotes customer data.
package enum PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A member has another JSON type than Apple documents.
  case wrongType(member: String, expected: String)
  /// A date is so far away that the calendar ends before it.
  case dateOutOfRange(member: String)

  package var description: String {
    switch self {
    case .wrongType(let member, let expected): "\(member) is not \(expected)"
    case .dateOutOfRange(let member): "\(member) is a date beyond the calendar's range"
    }
  }

  /// The same error as seen from the object that has the faulty one as its member `parent`.
  func inside(_ parent: String) -> PayloadError {
    switch self {
    case .wrongType(let member, let expected): .wrongType(member: "\(parent).\(member)", expected: expected)
    case .dateOutOfRange(let member): .dateOutOfRange(member: "\(parent).\(member)")
    }
  }
}
