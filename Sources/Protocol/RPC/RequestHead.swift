internal import Bytes
package import HTTP

/// The header fields of a gRPC request, decoded in one pass.
package struct RequestHead: Sendable {
  /// The `content-type` of a request, as far as it matters to gRPC.
  package enum ContentType: Hashable, Sendable {
    /// `application/grpc`, alone or with `+proto` or parameters.
    case grpc
    /// Any other value, or none.
    case other
  }

  /// The `grpc-encoding` of a request.
  package enum Encoding: Hashable, Sendable {
    /// An encoding that the server can decode; no field is `identity`.
    case known(MessageEncoding)
    /// Another value; the call fails with `UNIMPLEMENTED`, as gRPC requires.
    case unknown(String)
  }

  /// Whether the method is POST, which gRPC requires.
  package var isPost = false
  package var contentType = ContentType.other
  /// The value of `grpc-encoding`; `identity` without one.
  package var encoding = Encoding.known(.identity)
  /// Whether `grpc-accept-encoding` lists gzip.
  package var acceptsGzip = false
  /// The value of `grpc-timeout`; `nil` if it is missing or malformed.
  package var timeout: Timeout?
  /// The value of `grpc-timeout` if it is malformed.
  package var malformedTimeout: String?
  /// Whether there is metadata ``CallContext/requiredPositionField``.
  package var requiresPosition = false
  /// Whether there is a `traceparent`.
  package var hasTraceParent = false
  /// Whether there is a `host`, which must equal `:authority` (RFC 9113, section 8.3.1).
  package var hasHost = false
  /// The index of the path in the method table; `nil` for an unknown path.
  package var method: Int?

  /// Decodes `fields`, and finds the path in `methods`. Unknown fields are skipped.
  package init(_ fields: HeaderFields, methods: MethodTable) {
    fields.withFields { fields in
      for field in fields { read(field.name, field.value, methods) }
    }
  }

  /// Compares the lengths of names first, so that most fields need one comparison.
  private mutating func read(
    _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ methods: MethodTable
  ) {
    switch name.count {
    case 4 where name.equals("host"): hasHost = true
    case 5 where name.equals(":path"): method = methods.index(of: value)
    case 7 where name.equals(":method"): isPost = value.equals("POST")
    case 11 where name.equals("traceparent"): hasTraceParent = true
    case 12 where name.equals("content-type"): contentType = Self.contentType(value)
    case 12 where name.equals("grpc-timeout"):
      timeout = Timeout(value)
      if timeout == nil { malformedTimeout = String(decoding: value, as: UTF8.self) }
    case 13 where name.equals("grpc-encoding"): encoding = Self.encoding(value)
    case 17 where name.equals("entitled-at-least"): requiresPosition = true
    case 20 where name.equals("grpc-accept-encoding"): acceptsGzip = Self.lists("gzip", in: value)
    default: return
    }
  }

  private static func contentType(_ value: UnsafeRawBufferPointer) -> ContentType {
    let grpc: StaticString = "application/grpc"
    guard value.count >= grpc.utf8CodeUnitCount,
      hasPrefix(grpc, UnsafeRawBufferPointer(rebasing: value[..<grpc.utf8CodeUnitCount]))
    else { return .other }
    let rest = UnsafeRawBufferPointer(rebasing: value[grpc.utf8CodeUnitCount...])
    if rest.isEmpty || rest[0] == UInt8(ascii: ";") || rest[0] == UInt8(ascii: " ") { return .grpc }
    guard rest.count >= 6, String(decoding: rest.prefix(6), as: UTF8.self).lowercased() == "+proto" else {
      return .other
    }
    return rest.count == 6 || rest[6] == UInt8(ascii: ";") || rest[6] == UInt8(ascii: " ") ? .grpc : .other
  }

  /// Media types are case-insensitive (RFC 9110, section 8.3.1).
  private static func hasPrefix(_ type: StaticString, _ value: UnsafeRawBufferPointer) -> Bool {
    value.equals(type) || String(decoding: value, as: UTF8.self).lowercased() == "\(type)"
  }

  private static func encoding(_ value: UnsafeRawBufferPointer) -> Encoding {
    if value.equals("identity") { return .known(.identity) }
    if value.equals("gzip") { return .known(.gzip) }
    return .unknown(String(decoding: value, as: UTF8.self))
  }

  /// Without memory for the parts: a stranger can send thousands of commas with one byte (HPACK).
  private static func lists(_ word: StaticString, in value: UnsafeRawBufferPointer) -> Bool {
    var rest = value
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
      let part = rest[..<end].drop { $0 == UInt8(ascii: " ") }
      if UnsafeRawBufferPointer(rebasing: part).equals(word) { return true }
      rest = UnsafeRawBufferPointer(rebasing: rest[min(end + 1, rest.endIndex)...])
    }
    return false
  }
}
