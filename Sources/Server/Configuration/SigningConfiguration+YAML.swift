internal import SignedData

extension InAppPurchaseKey {
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["file", "key_id", "issuer_id"])
    path = try members.required("file").path()
    keyID = try members.required("key_id").text()
    issuerID = try members.required("issuer_id").text()
  }
}

extension SecretSource {
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["file", "variable"])
    switch (members["file"], members["variable"]) {
    case (let file?, nil): self = .file(try file.path())
    case (nil, let variable?): self = .variable(try variable.text())
    default: throw node.error("\(node.name) needs either file or variable")
    }
  }
}

extension TokenConfiguration {
  /// Longer ones would outlive what they say: nobody can take a token back.
  private static let longestLifetime: Int64 = 86_400
  private static let usualLifetime: Int64 = 300

  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["issuer", "keys", "lifetime_seconds"])
    issuer = try members.required("issuer").text()
    keyDirectory = try members.required("keys").path()
    guard let lifetime = members["lifetime_seconds"] else {
      lifetimeSeconds = Self.usualLifetime
      return
    }
    lifetimeSeconds = try lifetime.number()
    guard (1...Self.longestLifetime).contains(lifetimeSeconds) else {
      throw lifetime.error("\(lifetime.name) is not between 1 and \(Self.longestLifetime)")
    }
  }
}

extension OnlineCheckPolicy {
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    // YAML 1.1 reads a bare `off` as false; the text is what the operator wrote.
    let text = try node.text()
    guard let policy = OnlineCheckPolicy(rawValue: text) else {
      let known = Self.allCases.map(\.rawValue).joined(separator: ", ")
      throw node.error("\(node.name) is not one of \(known)")
    }
    self = policy
  }
}
