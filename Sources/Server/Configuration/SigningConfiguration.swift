/// An in-app purchase key from App Store Connect.
package struct InAppPurchaseKey: Hashable, Sendable {
  /// The `.p8` file; only its owner may have access.
  package let path: String
  /// The key id: ten letters and digits.
  package let keyID: String
  /// The issuer id of the App Store Connect account.
  package let issuerID: String
}

/// A DeviceCheck key of the developer account.
package struct DeviceCheckKey: Hashable, Sendable {
  /// The `.p8` file; only its owner may have access.
  package let path: String
  /// The key id: ten letters and digits.
  package let keyID: String
  /// The team id of the developer account.
  package let teamID: String
}

/// The source of a secret. The configuration itself contains none.
package enum SecretSource: Hashable, Sendable, CustomStringConvertible {
  /// The path of a file to which only its owner has access.
  case file(String)
  /// The name of an environment variable.
  case variable(String)

  /// The path, or `variable NAME`: errors about a secret name its source this way, and ``ConfigurationReferences``
  /// finds the line of it.
  package var description: String {
    switch self {
    case .file(let path): path
    case .variable(let name): "variable \(name)"
    }
  }
}

/// The section `tokens`: entitlement tokens.
package struct TokenConfiguration: Hashable, Sendable {
  /// The claim `iss`: the URL of the service, at which verifiers fetch the keys.
  package let issuer: String
  /// A directory of private keys in PEM. The newest key signs; the public keys of all are published.
  package let keyDirectory: String
  /// The lifetime of a token unless a request specifies a shorter one.
  package let lifetimeSeconds: Int64
}

extension InAppPurchaseKey {
  /// Parses `in_app_purchase_key` of an app: `file`, `key_id` and `issuer_id`, all required. The file is read by the
  /// program, not here.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["file", "key_id", "issuer_id"])
    try members.require("file", "key_id", "issuer_id")
    path = try members.required("file").path()
    keyID = try members.required("key_id").text()
    issuerID = try members.required("issuer_id").text()
  }
}

extension DeviceCheckKey {
  /// The members of `device_check` that make a key.
  static let names = ["file", "key_id", "team_id"]

  /// Parses the key of `device_check`, whose other members are the policy of trials: all of ``names`` are required.
  init(_ members: ConfigurationNode.Members) throws(ConfigurationError) {
    try members.require("file", "key_id", "team_id")
    path = try members.required("file").path()
    keyID = try members.required("key_id").text()
    teamID = try members.required("team_id").text()
  }
}

extension SecretSource {
  /// Parses `{file: PATH}` or `{variable: NAME}`; both together and neither are errors.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["file", "variable"])
    switch (members["file"], members["variable"]) {
    case (let file?, nil): self = .file(try file.path())
    case (nil, let variable?): self = .variable(try variable.text())
    default: throw node.error("\(node.name) requires either file or variable")
    }
  }
}

extension TokenConfiguration {
  /// A longer lifetime would outlast changes of entitlements, because tokens cannot be revoked.
  private static let maxLifetime: Int64 = 86_400
  /// Five minutes: a customer who was refunded keeps access by token no longer than that.
  private static let defaultLifetime: Int64 = 300

  /// Parses `issuer` and `keys`, which are required, and `lifetime_seconds`: 1 to 86,400, by default 300.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["issuer", "keys", "lifetime_seconds"])
    try members.require("issuer", "keys")
    issuer = try members.required("issuer").text()
    keyDirectory = try members.required("keys").path()
    guard let lifetime = members["lifetime_seconds"] else {
      lifetimeSeconds = Self.defaultLifetime
      return
    }
    lifetimeSeconds = try lifetime.number()
    guard (1...Self.maxLifetime).contains(lifetimeSeconds) else {
      throw lifetime.error("\(lifetime.name) is not between 1 and \(Self.maxLifetime)")
    }
  }
}
