internal import Foundation
internal import JSON
internal import Yams

extension ConfigurationNode {
  /// The members that are left out: a hash of a token lets an attacker test guesses.
  private static let secretNames: Set<String> = [
    "tokens", "secret", "shared_secret", "authorization", "signing_secret",
  ]

  /// The mapping as JSON, for operators. Secrets are files or variables, so the configuration has none; their names, the
  /// hashes of callers' tokens, and credentials in URLs are replaced anyway.
  var document: JSONObject {
    if case .object(let object) = Self.value(of: node, isTop: true) { object } else { [:] }
  }

  private static func value(of node: Node, isTop: Bool = false) -> JSONValue {
    if let mapping = node.mapping {
      return .object(
        JSONObject(
          mapping.map { key, value in
            let name = key.scalar?.string ?? ""
            // The section `tokens` has the settings of entitlement tokens, and no token.
            let isSecret = secretNames.contains(name) && !isTop
            return (name, isSecret ? .string("(secret)") : self.value(of: value))
          }))
    }
    if let sequence = node.sequence { return .array(sequence.map { value(of: $0) }) }
    guard let text = node.scalar?.string else { return .null }
    return .string(withoutCredentials(text))
  }

  /// A URL without user, password and query, which may contain a secret; any other text unchanged.
  private static func withoutCredentials(_ text: String) -> String {
    guard let scheme = text.range(of: "://") else { return text }
    let rest = text[scheme.upperBound...].prefix { $0 != "?" && $0 != "#" }
    let authority = rest.prefix { $0 != "/" }
    let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    return String(text[..<scheme.upperBound]) + host + rest.dropFirst(authority.count)
  }
}
