/// Who is at the other end of a connection, by the certificate that it proved to hold: one that the
/// listener's authorities have signed. Only those with such a certificate have one.
package final class PeerCertificate: Hashable, Sendable {
  /// The subject alternative names that are text (RFC 5280, section 4.2.1.6), in the certificate's order: hosts
  /// such as `billing.example.com`, URIs such as `spiffe://example.com/billing`, mailboxes.
  package let names: [String]

  package init(names: [String]) { self.names = names }

  package static func == (left: PeerCertificate, right: PeerCertificate) -> Bool { left.names == right.names }

  package func hash(into hasher: inout Hasher) { hasher.combine(names) }
}
