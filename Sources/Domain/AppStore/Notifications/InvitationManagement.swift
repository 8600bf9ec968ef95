/// Who invites the members of a group to their seats (Apple's `invitationManagement`).
package enum InvitationManagement: OpenCode {
  /// Apple: each member has an `ASSIGNED` transaction of their own.
  case apple
  /// The developer: members have no transaction, the server keeps the record.
  case developer
  case unrecognized(String)

  package static let known: [InvitationManagement] = [.apple, .developer]

  package var rawValue: String {
    switch self {
    case .apple: "APPLE"
    case .developer: "DEVELOPER"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
