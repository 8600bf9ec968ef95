/// The section `listeners.console`: the web pages for people who work with customers.
package struct ConsoleConfiguration: Hashable, Sendable {
  /// TLS, and the host names of the listener.
  package let listener: ListenerConfiguration
  /// The proxy that signs people in; `nil`: only this machine can reach the listener.
  package let identity: ConsoleIdentity?
  /// Pages of the operator that the console links to.
  package let links: ConsoleLinks

  /// No proxy and no links: one-time links sign people in, from this machine only.
  static let standard = ConsoleConfiguration(listener: .standard, identity: nil, links: ConsoleLinks())
}

/// An identity-aware proxy that adds a signed token to each request.
package struct ConsoleIdentity: Hashable, Sendable {
  /// The header field of the token, in lower case.
  package let header: String
  /// The issuer of the token.
  package let issuer: TokenIssuerConfiguration
}

/// The addresses of the operator's other tools, each an `http` or `https` URL; `nil`: no link.
package struct ConsoleLinks: Hashable, Sendable {
  /// The dashboards.
  package private(set) var grafana: String?
  /// The customer in the operator's customer database, with `{customer_id}`.
  package private(set) var customer: String?
  /// A ticket that a note names, with `{ticket}`.
  package private(set) var ticket: String?
}

extension ConsoleConfiguration {
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let names = ["tls", "cleartext", "allowed_hosts", "identity", "links"]
    let members = try node.members(names)
    listener = try ListenerConfiguration(node, names)
    identity = try members.part(members["identity"].map(ConsoleIdentity.init))
    links = try members.part(members["links"].map(ConsoleLinks.init)) ?? ConsoleLinks()
  }
}

extension ConsoleIdentity {
  /// Parses `identity`: `header` and the keys of an issuer; `subject_claim` is `sub` by default.
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

extension ConsoleLinks {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["grafana", "customer", "ticket"])
    grafana = try Self.url(members["grafana"], with: "")
    customer = try Self.url(members["customer"], with: "{customer_id}")
    ticket = try Self.url(members["ticket"], with: "{ticket}")
  }

  /// Parses a URL that contains `placeholder`. The console writes it into pages, so it has neither quotes nor angle
  /// brackets.
  private static func url(
    _ node: ConfigurationNode?, with placeholder: String
  ) throws(ConfigurationError) -> String? {
    guard let node else { return nil }
    let url = try node.text()
    let isURL = url.hasPrefix("https://") || url.hasPrefix("http://")
    guard isURL, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"'<>\\".utf8.contains($0) }) else {
      throw node.error("\(node.name) is not an http or https URL")
    }
    guard placeholder.isEmpty || url.contains(placeholder) else {
      throw node.error("\(node.name) does not contain \(placeholder)")
    }
    return try node.url(such: "https://example.com", allowsFragment: true).text
  }
}
