internal import Bytes

/// A complete HTTP request with its body in memory, independent of the transport.
package struct HTTPRequest: Sendable {
  /// In upper case, for instance "POST".
  package var method: String
  /// The path without the query, still percent-encoded.
  package var path: String
  /// The query after the first `?`, still percent-encoded; empty without one.
  package var query: String
  /// The header fields, with lowercase names.
  package var headers: HeaderFields
  /// The whole body, decoded from its transfer coding; the transport limits its size.
  package var body: [UInt8]
  /// The client certificate, if the client presented one.
  package var peer: PeerCertificate?
  /// The IP address of the client or of the proxy before it; empty if it is unknown.
  package var address = ""

  /// Splits `target`, as the request line has it, at its first `?`. Names of `headers` must be in lower case.
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

  /// Returns the value of the first header field named `name` (lowercase); `nil` without the field.
  package func header(_ name: String) -> String? { headers[name] }

  /// The media type of `content-type` in lower case, without parameters; `nil` without the field.
  package var mediaType: String? {
    // By bytes: for a browser a semicolon ends the type also before a combining mark, with which it is one character.
    header("content-type").map {
      String(decoding: $0.utf8.prefix { !Self.endsMediaType($0) }, as: UTF8.self).lowercased()
    }
  }

  /// Whether a byte begins the parameters of a media type, or the white space before them (RFC 9110, section 5.6.6).
  private static func endsMediaType(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ";") || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }
}

/// A complete HTTP response.
package struct HTTPResponse: Sendable {
  /// A status that is never sent: the server closes the HTTP/1.1 connection instead (nginx uses the same
  /// number).
  package static let noResponseStatus = 444

  /// 100 to 599.
  package var status: Int
  /// Without `content-length`, which the transport adds.
  package var headers: HeaderFields
  /// Ignored with a ``stream``.
  package var body: [UInt8]
  /// Sends the body in parts; `nil`: `body` is all of it.
  package var stream: HTTPBodyStream?

  package init(status: Int, headers: HeaderFields = HeaderFields(), body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Whether it states the length of its body; one without content has none, and of 304 it would be that of the content
  /// (RFC 9110, section 8.6).
  package var hasLength: Bool { status != 204 && status != 304 && stream == nil }

  /// Returns a JSON response with the document `body`.
  package static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: HeaderFields([("content-type", "application/json")]), body: body)
  }

  /// Returns a plain text response.
  package static func text(_ status: Int, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: HeaderFields([("content-type", "text/plain; charset=utf-8")]),
      body: Array(text.utf8))
  }

  /// Returns the response to a method that the path does not support (RFC 9110, section 15.5.6).
  package static func methodNotAllowed(_ allowed: String) -> HTTPResponse {
    var response = HTTPResponse.text(405, "method not allowed; use \(allowed)\n")
    response.headers.append(name: "allow", value: allowed)
    return response
  }
}

/// A body that is sent in parts, whose length is not known at its start.
package struct HTTPBodyStream: Sendable {
  /// Sends a part, and waits while the client reads too slowly. `false` if the client has gone.
  package typealias Send = @Sendable ([UInt8]) async -> Bool

  /// Sends the parts; the body ends when it returns. Its task is cancelled when the client has gone, or is to continue on
  /// another connection.
  package let produce: @Sendable (_ send: @escaping Send) async -> Void

  package init(_ produce: @escaping @Sendable (_ send: @escaping Send) async -> Void) {
    self.produce = produce
  }
}

/// Handles an HTTP request. Errors are responses with their status.
package typealias HTTPHandler = @Sendable (HTTPRequest) async -> HTTPResponse

/// The identity of a TLS client whose certificate the listener verified against its authorities.
package final class PeerCertificate: Hashable, Sendable {
  /// The textual subject alternative names (RFC 5280, section 4.2.1.6) in the certificate's order: hosts such
  /// as `billing.example.com`, URIs such as `spiffe://example.com/billing`, mailboxes.
  package let names: [String]

  package init(names: [String]) { self.names = names }

  package static func == (left: PeerCertificate, right: PeerCertificate) -> Bool { left.names == right.names }

  package func hash(into hasher: inout Hasher) { hasher.combine(names) }
}

extension HTTPRequest {
  /// The response to a request whose path or query is not UTF-8 when it is decoded, because it would be about another name;
  /// `nil` for other requests.
  package var refusalOfEncoding: HTTPResponse? {
    let isUTF8 = PercentEncoding.isUTF8(path.utf8) && PercentEncoding.isUTF8(query.utf8)
    return isUTF8 ? nil : .text(400, "the address is not UTF-8\n")
  }

  /// Whether the client has the content with this entity tag, or has any (RFC 9110, section 13.1.2).
  package func isCurrent(_ entityTag: String) -> Bool {
    (header("if-none-match") ?? "").split(separator: ",").contains { item in
      let item = String(item).trimmed
      return item == "*" || (item.hasPrefix("W/") ? String(item.dropFirst(2)) : item) == entityTag
    }
  }
}

/// A query string; names may repeat.
package struct Query: Sendable {
  private let items: [(name: String, value: [UInt8])]

  /// Decodes the text after the `?` of a request target.
  package init(_ text: String) {
    items = text.split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? parts[1] : ""
      return (
        PercentEncoding.decode(parts[0], plusIsSpace: true),
        PercentEncoding.decodedBytes(value.utf8, plusIsSpace: true)
      )
    }
  }

  /// The value of the first item with this name; empty for one without `=`. Bytes that are not UTF-8 become U+FFFD.
  package subscript(name: String) -> String? { bytes(of: name).map { String(decoding: $0, as: UTF8.self) } }

  /// The bytes of the same value.
  package func bytes(of name: String) -> [UInt8]? { items.first { $0.name == name }?.value }

  /// The values of all items with this name, in order.
  package func all(_ name: String) -> [String] {
    items.filter { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
  }
}
