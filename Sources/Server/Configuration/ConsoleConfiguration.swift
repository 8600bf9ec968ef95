/// The section `listeners.console`: the web pages for people who work with customers.
package struct ConsoleConfiguration: Hashable, Sendable {
  /// TLS, and the host names of the listener.
  package let listener: ListenerConfiguration
  /// The proxy that signs people in; `nil`: only this machine can reach the listener.
  package let identity: ConsoleIdentity?

  static let standard = ConsoleConfiguration(listener: .standard, identity: nil)
}

/// An identity-aware proxy that adds a signed token to each request.
package struct ConsoleIdentity: Hashable, Sendable {
  /// The header field of the token, in lower case.
  package let header: String
  /// The issuer of the token.
  package let issuer: TokenIssuerConfiguration
}

extension ConsoleConfiguration {
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let names = ["tls", "cleartext", "allowed_hosts"]
    let members = try node.members(names + ["identity"])
    listener = try ListenerConfiguration(node, names + ["identity"])
    identity = try members["identity"].map(ConsoleIdentity.init)
  }
}

extension ConsoleIdentity {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["header", "subject_claim"] + TokenIssuerConfiguration.memberNames)
    let field = try members.required("header")
    header = try field.text().lowercased()
    guard !header.isEmpty, header.utf8.allSatisfy(Self.isNamePart) else {
      throw field.error("\(field.name) is not the name of a header field")
    }
    issuer = try TokenIssuerConfiguration(
      members, subjectClaim: try members["subject_claim"]?.text() ?? "sub")
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
