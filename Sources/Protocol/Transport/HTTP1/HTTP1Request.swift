internal import HTTP
internal import NIOCore
internal import NIOHTTP1

extension TransportLimits {
  /// The parser, which holds the header fields of an incomplete request. It reads more than are allowed, so that their
  /// request gets a response. After a request for another protocol it only holds what arrives.
  func makeHTTP1Decoder() -> ByteToMessageHandler<HTTPRequestDecoder> {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderListSize = 8 * headerBytes
    return ByteToMessageHandler(
      HTTPRequestDecoder(limitConfiguration: limits),
      maximumBufferSize: limits.maxHeaderListSize + Self.maxUnparsedBytes)
  }

  /// More than a read from the socket.
  private static let maxUnparsedBytes = 128 * 1_024
}

// The rules of RFC 9112 that NIO's parser leaves to the server.
extension HTTPRequestHead {
  /// The response to a request that is not served, whatever its body; `nil` for other requests. The connection ends with
  /// it, because the end of the request may be uncertain.
  func refusal(_ limits: TransportLimits) -> HTTPResponse? {
    guard sizeInBytes <= limits.headerBytes else {
      return .headersTooLarge(limit: limits.headerBytes)
    }
    guard hasValidHost else { return .invalidHost }
    if method == .CONNECT { return .methodNotAllowed("GET, POST") }
    if let refusal = refusalOfCoding { return refusal }
    let length = values("content-length").first.flatMap { Int($0) } ?? 0
    return length > limits.bodyBytes ? .bodyTooLarge(limit: limits.bodyBytes) : nil
  }

  /// Whether the client waits for an interim response. A server ignores the expectation of HTTP/1.0 (RFC 9110,
  /// section 10.1.1).
  var expectsContinue: Bool {
    !isBefore1_1 && values("expect").first?.lowercased() == "100-continue"
  }

  /// Whether the client asks for another protocol. The request is served without it (RFC 9110, section 7.8), but the parser
  /// reads nothing after it, so the connection ends. May be true also if the parser reads on.
  var asksForUpgrade: Bool {
    headers.contains(name: "upgrade")
      && headers["connection"].contains { $0.lowercased().contains("upgrade") }
  }

  /// Whether the client speaks HTTP/1.0, which has no transfer codings (RFC 9112, section 6.1).
  var isBefore1_1: Bool { (version.major, version.minor) < (1, 1) }

  /// The size as HTTP/2 counts it (RFC 9113, section 6.5.2).
  private var sizeInBytes: Int {
    headers.reduce(uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
  }

  /// Whether the request has one Host that is valid (RFC 9112, section 3.2), and names a valid one in its target.
  private var hasValidHost: Bool {
    let hosts = values("host")
    guard hosts.count == 1 || (hosts.isEmpty && isBefore1_1) else { return false }
    return hosts.allSatisfy { Authority($0) != nil }
      && (absoluteTarget.map { Authority($0.authority) != nil } ?? true)
  }

  /// HTTP/1.0 has no transfer codings, and a server that does not know one says so.
  private var refusalOfCoding: HTTPResponse? {
    let codings = values("transfer-encoding")
    guard !codings.isEmpty else { return nil }
    if isBefore1_1 { return .text(400, "HTTP/1.0 has no transfer-encoding\n") }
    return codings.map { $0.lowercased() } == ["chunked"]
      ? nil : .text(501, "the only supported transfer-encoding is chunked\n")
  }

  /// The values of the fields with a name.
  private func values(_ name: String) -> [Substring] { headers[name].map(\.withoutSpaceAtEnd) }

  /// The parts of a target that is a whole URL, as clients send it to a proxy; `nil` for other targets.
  fileprivate var absoluteTarget: (authority: Substring, rest: String)? {
    let scheme = ["http://", "https://"].first { uri.prefix($0.count).lowercased() == $0 }
    guard let scheme else { return nil }
    let target = uri.dropFirst(scheme.count)
    let end = target.firstIndex { $0 == "/" || $0 == "?" } ?? target.endIndex
    let rest = target[end...]
    return (target[..<end], rest.hasPrefix("/") ? String(rest) : "/\(rest)")
  }
}

extension HTTPRequest {
  /// A request of HTTP/1.1. The host of a target that is a whole URL replaces the Host field (RFC 9112, section 3.2.2).
  init(_ head: HTTPRequestHead, body: [UInt8]) {
    let target = head.absoluteTarget
    var fields = head.headers.map {
      (name: $0.name.lowercased(), value: String($0.value.withoutSpaceAtEnd))
    }
    if let target {
      fields.removeAll { $0.name == "host" }
      fields.append(("host", String(target.authority)))
    }
    self.init(
      method: head.method.rawValue, target: target?.rest ?? head.uri, headers: HeaderFields(fields),
      body: body)
  }
}

extension String {
  /// Spaces and tabs after a value are no part of it (RFC 9112, section 5.1); the parser skips those before.
  fileprivate var withoutSpaceAtEnd: Substring {
    var bytes = utf8[...]
    while let last = bytes.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") {
      bytes.removeLast()
    }
    return Substring(bytes)
  }
}

extension HTTPResponse {
  static let invalidHost = HTTPResponse.text(400, "a request needs exactly one valid host\n")

  static func headersTooLarge(limit: Int) -> HTTPResponse {
    .text(431, "request header fields exceed \(limit) bytes\n")
  }
}
