internal import Bytes
package import Callers

/// The section `callers`.
package enum CallerConfiguration: Hashable, Sendable {
  /// Not configured: all callers, provided that only this machine can reach the listeners.
  case unspecified
  /// All callers, from any address.
  case open
  /// The listed callers only.
  case listed([CallerDefinition])
}

/// The section `token_issuer`: a trusted identity provider.
package struct TokenIssuerConfiguration: Hashable, Sendable {
  /// The claims that its tokens must have.
  package let terms: TokenIssuer.Terms
  /// The source of its keys.
  package let keys: KeySource

  /// The location of a JSON Web Key Set.
  package enum KeySource: Hashable, Sendable {
    /// The path of a file, which a reload reads again.
    case file(String)
    /// A URL that starts with `https://` (or `http://` for this machine).
    case url(String)
  }
}

extension CallerConfiguration {
  static let memberNames = ["roles", "apps", "tokens", "subjects", "certificate_names", "rate_limit"]

  /// The caller of the console's calls, whose evidence and idempotency keys are not those of a configured caller.
  private static let reservedName = "console"

  /// Parses `callers`: `open`, or a mapping of names to callers, whose apps are among `knownApps`.
  init(_ node: ConfigurationNode?, knownApps: [String], hasIssuer: Bool) throws(ConfigurationError) {
    guard let node else {
      self = .unspecified
      return
    }
    if node.isScalar {
      guard try node.text() == "open" else { throw node.error("callers is neither open nor a mapping") }
      self = .open
      return
    }
    var definitions: [CallerDefinition] = []
    var credentials: Set<OpaqueID> = []
    for (name, node) in try node.entries() {
      let caller = ConfigurationNode(renaming: node, "caller \(name)")
      guard try node.part(Self.check(name: name, caller)) != nil else { continue }
      let parsed = try node.part(
        CallerDefinition(name, caller, knownApps: knownApps, hasIssuer: hasIssuer))
      guard let definition = parsed else { continue }
      for credential in definition.credentials where !credentials.insert(OpaqueID(credential)).inserted {
        try node.report("\(credential) of caller \(name) is also used by another caller")
      }
      definitions.append(definition)
    }
    self = .listed(definitions)
  }

  /// Names with `:` and `/` would be mistaken for a subject of the identity provider, and for an actor of a caller.
  private static func check(name: String, _ caller: ConfigurationNode) throws(ConfigurationError) {
    try caller.require(name: name)
    guard name != reservedName else { throw caller.error("the caller name '\(name)' is reserved") }
  }
}

extension CallerDefinition {
  /// Parses a caller: at least one role and one credential. Subjects need an issuer, whose tokens name them.
  fileprivate init(
    _ name: String, _ node: ConfigurationNode, knownApps: [String], hasIssuer: Bool
  ) throws(ConfigurationError) {
    let members = try node.members(CallerConfiguration.memberNames)
    let found = node.problemCount
    let roles = try members.part(members.required("roles").values(Role.init)) ?? []
    guard !roles.isEmpty || node.problemCount > found else {
      throw node.error("caller \(name) has no roles")
    }
    let apps = try members.part(
      members["apps"]?.values { node throws(ConfigurationError) in
        let app = try node.text()
        guard knownApps.contains(app) else {
          throw node.error(
            "unknown app '\(app)'; known: \(knownApps.joined(separator: ", "))")
        }
        return app
      })
    if let subjects = members["subjects"], !hasIssuer {
      try subjects.report("\(subjects.name) requires a token_issuer")
    }
    let withoutCredentials = node.problemCount
    self.init(
      name: name, roles: Set(roles), apps: apps.map(Set.init),
      rateLimit: try members.part(members["rate_limit"].map(RateLimit.init)),
      tokens: try members.part(members["tokens"]?.values(TokenHash.init)) ?? [],
      subjects: try members.part(members["subjects"]?.texts()) ?? [],
      certificateNames: try members.part(members["certificate_names"]?.texts()) ?? [])
    guard !credentials.isEmpty || node.problemCount > withoutCredentials else {
      throw node.error("caller \(name) has no tokens, subjects or certificate_names")
    }
  }

  /// The credentials in the words of an error, to find those that two callers have.
  fileprivate var credentials: [String] {
    tokens.map(\.description) + subjects.map { "subject '\($0)'" }
      + certificateNames.map { "certificate name '\($0)'" }
  }
}

extension TokenIssuerConfiguration {
  /// The keys of the section. The console's identity has them too.
  static let memberNames = ["issuer", "audience", "keys", "roles_claim"]

  /// Parses `token_issuer`: `issuer`, `audience` and `keys` are required. The subject is the claim `sub`.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    try self.init(node.members(Self.memberNames), subjectClaim: "sub")
  }

  /// An issuer from the members of a section. `subjectClaim` is the claim with the name of the subject.
  init(_ members: ConfigurationNode.Members, subjectClaim: String) throws(ConfigurationError) {
    try members.require("issuer", "audience", "keys")
    terms = TokenIssuer.Terms(
      issuer: try members.required("issuer").text(), audience: try members.required("audience").text(),
      rolesClaim: try members["roles_claim"]?.text(), subjectClaim: subjectClaim)
    keys = try KeySource(members.required("keys"))
  }
}

extension TokenIssuerConfiguration.KeySource {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["file", "url"])
    switch (members["file"], members["url"]) {
    case (let file?, nil): self = .file(try file.path())
    case (nil, let url?):
      let address = try url.url(such: "https://example.com/jwks.json")
      guard address.isHTTPS || address.isThisMachine else {
        throw url.error(
          "\(url.name) does not start with https://, so the keys could be replaced in transit")
      }
      self = .url(address.text)
    default: throw node.error("\(node.name) requires either file or url")
    }
  }
}

extension Role {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    self = try node.choice(of: "role")
  }
}

extension TokenHash {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    guard let hash = TokenHash(try node.text()) else {
      throw node.error(
        "\(node.name) is not sha256: and 64 hexadecimal digits; create one with 'entitled token create'")
    }
    self = hash
  }
}

extension RateLimit {
  /// Parses `per_second` and `burst`, which is the calls of one second by default; both are 1 to 1,000,000.
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["per_second", "burst"])
    let perSecond = try members.required("per_second").number(in: 1...1_000_000)
    self.init(
      perSecond: perSecond, burst: try members["burst"]?.number(in: 1...1_000_000) ?? perSecond)
  }
}
