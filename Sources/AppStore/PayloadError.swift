/// Why a JSON object is not one of Apple's payloads. Names the member; never quotes customer data.
package enum PayloadError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A member has another JSON type than Apple documents.
  case wrongType(member: String, expected: String)
  /// A date is so far away that the calendar ends before it.
  case dateOutOfRange(member: String)
  /// The payload is of an environment that this version does not know, so it belongs nowhere.
  case unknownEnvironment(member: String)

  package var description: String {
    switch self {
    case .wrongType(let member, let expected): "\(member) is not \(expected)"
    case .dateOutOfRange(let member): "\(member) is a date beyond the calendar's range"
    case .unknownEnvironment(let member): "\(member) names an environment that is not known"
    }
  }
}
