/// Someone who may call, as the operator named and allowed them. A class, since every call hands one around.
package final class Caller: Sendable {
  /// The operator's name for them; what the audit log and evidence call them.
  package let name: String
  /// What they may do.
  package let roles: Set<Role>
  /// The apps that they may ask about; `nil`: all.
  package let apps: Set<String>?
  /// How often they may call; `nil`: as often as they like. One bucket is shared by all event loops.
  package let bucket: TokenBucket?
  private let roleBits: UInt8

  /// A caller by its parts; `roles` as the operator gave them.
  package init(name: String, roles: Set<Role>, apps: Set<String>?, bucket: TokenBucket? = nil) {
    self.name = name
    self.roles = Role.effective(roles)
    roleBits = self.roles.reduce(0) { $0 | $1.bit }
    self.apps = apps
    self.bucket = bucket
  }

  /// Whether they have a role: the question of every call.
  package func has(_ role: Role) -> Bool { roleBits & role.bit != 0 }

  /// Whoever it is, where the operator lets everybody in.
  package static let anyone = Caller(name: "", roles: [.admin], apps: nil)
}
