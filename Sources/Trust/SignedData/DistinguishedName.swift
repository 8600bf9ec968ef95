/// Whose a certificate is: attributes in their order, such as `CN` and `O`.
package struct DistinguishedName: Hashable, Sendable {
  /// One attribute, by OpenSSL's short name (`CN`, `OU`, `O`, `C`).
  package struct Attribute: Hashable, Sendable {
    package let type: String
    package let value: String
  }

  package let attributes: [Attribute]

  /// A name of `(type, value)` pairs, in the order in which the certificate lists them.
  package init(_ attributes: [(String, String)]) {
    self.attributes = attributes.map { Attribute(type: $0.0, value: $0.1) }
  }
}
