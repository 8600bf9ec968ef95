internal import Bytes
package import HTTP

extension Status {
  /// The trailers of this status (gRPC over HTTP/2, "Responses"), after `metadata`.
  package func fields(after metadata: HeaderFields = HeaderFields()) -> HeaderFields {
    var fields = metadata
    for field in trailingMetadata.fields.strings { fields.append(name: field.name, value: field.value) }
    fields.append(name: "grpc-status", value: String(code.rawValue))
    if !message.isEmpty { fields.append(name: "grpc-message", value: percentEncode(message)) }
    if !details.isEmpty {
      fields.append(name: "grpc-status-details-bin", value: Base64.standard.encode(details, padded: false))
    }
    if !requestID.isEmpty { fields.append(name: Self.requestIDField, value: requestID) }
    return fields
  }

  /// The name of the field with ``requestID``, in HTTP responses too.
  package static let requestIDField = "x-request-id"

  /// The fields of a response without a message ("Trailers-Only").
  package var trailersOnly: HeaderFields {
    fields(after: Self.head)
  }

  /// The header fields of every gRPC response.
  package static let head = HeaderFields([
    (":status", "200"), ("content-type", "application/grpc"),
    ("grpc-accept-encoding", MessageEncoding.accepted),
  ])

  /// The fields that `build` makes of this status, within `limit` bytes: without the details if they are too large,
  /// and then with an excerpt of the message. `nil` if even these exceed the limit.
  package func fields(within limit: Int, _ build: (Status) -> HeaderFields) -> HeaderFields? {
    var status = self
    var fields = build(status)
    if fields.sizeInBytes > limit {
      status.details = []
      fields = build(status)
    }
    if fields.sizeInBytes > limit {
      status.message = status.message.excerpt
      fields = build(status)
    }
    return fields.sizeInBytes <= limit ? fields : nil
  }

  /// Decodes the status in trailers; `nil` if there is none.
  package init?(fields: HeaderFields) {
    guard let number = fields["grpc-status"].flatMap({ Int($0) }) else { return nil }
    self.init(
      StatusCode(rawValue: number) ?? .unknown,
      percentDecode(fields["grpc-message"] ?? ""),
      details: fields["grpc-status-details-bin"].flatMap { Base64.standard.decodeLeniently($0) } ?? [])
  }
}

/// Writes bytes outside printable ASCII, and `%`, as `%XX` (gRPC over HTTP/2, "Status-Message").
func percentEncode(_ text: String) -> String {
  let digits = Array("0123456789ABCDEF".utf8)
  var encoded: [UInt8] = []
  for byte in text.utf8 {
    if byte >= 0x20, byte <= 0x7e, byte != UInt8(ascii: "%") {
      encoded.append(byte)
    } else {
      encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }
  return String(decoding: encoded, as: UTF8.self)
}

/// Decodes `%XX`. Malformed sequences are left unchanged, as gRPC requires.
func percentDecode(_ text: String) -> String {
  let bytes = Array(text.utf8)
  var decoded: [UInt8] = []
  var index = 0
  while index < bytes.count {
    if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
      let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16)
    {
      decoded.append(byte)
      index += 3
    } else {
      decoded.append(bytes[index])
      index += 1
    }
  }
  return String(decoding: decoded, as: UTF8.self)
}
