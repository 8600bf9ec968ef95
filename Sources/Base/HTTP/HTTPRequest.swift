/// A request as the edge sees it: whole, its body in memory, its transport forgotten.
package struct HTTPRequest: Sendable {
  package var method: String
  /// The path without the query, still percent-encoded.
  package var path: String
  /// What follows the first `?`, still percent-encoded; empty without one.
  package var query: String
  package var headers: HeaderFields
  package var body: [UInt8]
  /// Who asks, if it has identified itself with a certificate.
  package var peer: PeerCertificate?

  package init(
    method: String, target: String, headers: HeaderFields = HeaderFields(), body: [UInt8] = []
  ) {
    self.method = method
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    self.path = parts.first.map(String.init) ?? ""
    self.query = parts.count > 1 ? String(parts[1]) : ""
    self.headers = headers
    self.body = body
  }

  /// The value of the header field of that (lowercase) name.
  package func header(_ name: String) -> String? { headers[name] }
}
