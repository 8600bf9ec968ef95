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

/// What the edge answers.
package struct HTTPResponse: Sendable {
  /// Stands for no answer at all: a connection of HTTP/1.1 is closed instead (nginx has it by the same number).
  package static let noResponseStatus = 444

  /// 100 to 599.
  package var status: Int
  package var headers: HeaderFields
  package var body: [UInt8]

  package init(status: Int, headers: HeaderFields = HeaderFields(), body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// An answer in JSON; `body` is the document.
  package static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: HeaderFields([("content-type", "application/json")]), body: body)
  }

  /// An answer for a person's eyes.
  package static func text(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: HeaderFields([("content-type", "text/plain; charset=utf-8")]),
      body: Array(text.utf8))
  }

  /// The answer to a method that this path does not have (RFC 9110, section 15.5.6).
  package static func methodNotAllowed(_ allowed: String) -> HTTPResponse {
    var response = HTTPResponse.text(405, "method not allowed; use \(allowed)\n")
    response.headers.append(name: "allow", value: allowed)
    return response
  }
}

/// What answers requests at the edge. It never fails: an error is an answer with its status.
package typealias HTTPHandler = @Sendable (HTTPRequest) async -> HTTPResponse

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
