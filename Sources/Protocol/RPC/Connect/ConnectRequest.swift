internal import Bytes
package import HTTP
internal import Platform

/// The encoding of messages in the Connect protocol.
package enum ConnectCodec: Hashable, Sendable, CaseIterable {
  /// `application/json`, the canonical JSON of protobuf.
  case json
  /// `application/proto`, the binary form of protobuf.
  case proto

  /// The name in the query of a GET request.
  var name: String {
    switch self {
    case .json: "json"
    case .proto: "proto"
    }
  }

  /// The media type of requests and successful responses.
  package var contentType: String { "application/" + name }

  /// The value of `accept-post`.
  static let contentTypes = allCases.map(\.contentType).joined(separator: ", ")
}

/// A unary request of the Connect protocol: `POST /package.Service/Method` with the message as body, or GET with the
/// message in the query (connectrpc.com, "Connect protocol").
///
/// The header fields are decoded first, so that a call can be rejected before its message is decompressed.
package struct ConnectRequest: Sendable {
  /// The reason why a request is not one of the protocol.
  package enum Rejection: Error, Hashable, Sendable {
    /// The content type, or the encoding in a query, is not supported: HTTP 415.
    case unsupportedCodec
    /// The request is malformed; the status says in which way.
    case status(Status)

    static func invalid(_ message: String) -> Rejection { .status(Status(invalidRequest: message)) }
  }

  /// The encoding of the messages, in both directions.
  package let codec: ConnectCodec
  /// The caller's timeout; `nil` for none.
  package let timeout: Timeout?
  /// The compression of the response that the caller accepts.
  let acceptsGzip: Bool
  private let encoding: MessageEncoding
  private let content: Content

  /// The part of the request with the message.
  private enum Content {
    /// The body of a POST request.
    case body([UInt8])
    /// The `message` of a GET request, percent-decoded; `isBase64` if its `base64` is 1.
    case query([UInt8], isBase64: Bool)
  }

  /// Decodes everything but the message. The method must be POST, or GET for a method without side effects.
  ///
  /// - Throws: ``Rejection``. The message is not looked at, so a malformed one is an error of ``message(limit:)``.
  package init(_ request: HTTPRequest) throws(Rejection) {
    timeout = try Self.timeout(request.header("connect-timeout-ms"))
    if request.method == "GET" {
      let query = Query(request.query)
      guard let codec = try Self.codec(named: query["encoding"]) else { throw .unsupportedCodec }
      self.codec = codec
      try Self.require(version: query["connect"], isExpected: "v1", in: "connect")
      encoding = try Self.encoding(query["compression"])
      guard let message = query.bytes(of: "message") else { throw .invalid("the query has no 'message'") }
      content = .query(message, isBase64: try Self.flag(query["base64"]))
    } else {
      guard let codec = Self.codec(ofType: request.mediaType) else { throw .unsupportedCodec }
      self.codec = codec
      let version = request.header("connect-protocol-version")
      try Self.require(version: version, isExpected: "1", in: "connect-protocol-version")
      encoding = try Self.encoding(request.header("content-encoding"))
      content = .body(request.body)
    }
    let accepted = request.header("accept-encoding")
    acceptsGzip = accepted.map(Self.listsGzip) ?? (encoding == .gzip)
  }

  /// The message, decompressed to at most `limit` bytes, in the encoding of ``codec``.
  ///
  /// - Throws: `RESOURCE_EXHAUSTED` with the reason `MESSAGE_TOO_LARGE` if it decompresses to more than `limit`
  ///   bytes; `INVALID_ARGUMENT` if base64 or gzip are malformed.
  package func message(limit: Int) throws(Status) -> [UInt8] {
    let bytes: [UInt8]
    switch content {
    case .body(let body): bytes = body
    case .query(let content, isBase64: false): bytes = content
    case .query(let text, isBase64: true):
      // Clients may pad (connectrpc.com, "Unary-Get-Request").
      let digits = text.prefix { $0 != UInt8(ascii: "=") }
      guard let decoded = Base64.url.decode(String(decoding: digits, as: UTF8.self)) else {
        throw Status(invalidRequest: "'message' is not unpadded base64url")
      }
      bytes = decoded
    }
    guard encoding == .gzip else { return bytes }
    do throws(CompressionError) {
      return try bytes.withUnsafeBufferPointer { bytes throws(CompressionError) in
        try gunzip(UnsafeRawBufferPointer(bytes), limit: limit)
      }
    } catch {
      switch error {
      case .tooLarge: throw Status(.resourceExhausted, reason: "MESSAGE_TOO_LARGE", error.description)
      case .damaged, .outOfMemory: throw Status(invalidRequest: "the message is not gzip: \(error)")
      }
    }
  }

  private static func codec(ofType type: String?) -> ConnectCodec? {
    ConnectCodec.allCases.first { $0.contentType == type }
  }

  /// `nil` for an unknown name.
  private static func codec(named name: String?) throws(Rejection) -> ConnectCodec? {
    guard let name else { throw .invalid("the query has no 'encoding'") }
    return ConnectCodec.allCases.first { $0.name == name }
  }

  private static func require(version: String?, isExpected expected: String, in name: String)
    throws(Rejection)
  {
    guard let version, version != expected else { return }
    throw .invalid("'\(name)' must be '\(expected)', not '\(version.excerpt)'")
  }

  private static func flag(_ value: String?) throws(Rejection) -> Bool {
    switch value {
    case nil, "", "0": false
    case "1": true
    case let other?: throw .invalid("'base64' must be 1, not '\(other.excerpt)'")
    }
  }

  private static func encoding(_ name: String?) throws(Rejection) -> MessageEncoding {
    switch name?.lowercased() {
    case nil, "", "identity": .identity
    case "gzip": .gzip
    case let other?:
      throw .status(
        Status(
          .unimplemented, reason: "UNSUPPORTED_COMPRESSION",
          "unknown compression '\(other.excerpt)'; supported are \(MessageEncoding.accepted)"))
    }
  }

  /// At most ten digits of milliseconds.
  private static func timeout(_ value: String?) throws(Rejection) -> Timeout? {
    guard let value else { return nil }
    guard (1...10).contains(value.utf8.count), value.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let milliseconds = Int64(value)
    else {
      throw .invalid("'connect-timeout-ms' must have 1 to 10 digits, not '\(value.excerpt)'")
    }
    return Timeout(nanoseconds: milliseconds * 1_000_000)
  }

  /// Whether `accept-encoding` lists gzip with a weight above 0 (RFC 9110, section 12.5.3).
  private static func listsGzip(_ value: String) -> Bool {
    value.lowercased().split(separator: ",").contains { item in
      let parts = item.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      guard parts.first == "gzip" else { return false }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { $0.dropFirst(2) }
      return weight.map { (Double($0) ?? 0) > 0 } ?? true
    }
  }
}

extension Status {
  fileprivate init(invalidRequest message: String) {
    self.init(.invalidArgument, reason: "INVALID_REQUEST", message)
  }

  /// The status of a request whose codec is not supported.
  package static let unsupportedConnectCodec = Status(
    .invalidArgument, reason: "UNSUPPORTED_CONTENT_TYPE",
    "content-type must be one of \(ConnectCodec.contentTypes)")
}
