internal import Bytes
package import HTTP

extension Status {
  /// The trailers of this status (gRPC over HTTP/2, "Responses"), after `metadata`.
  package func fields(after metadata: HeaderFields = HeaderFields()) -> HeaderFields {
    var fields = metadata
    for field in trailingMetadata.fields.strings { fields.append(name: field.name, value: field.value) }
    fields.append(name: "grpc-status", value: String(code.rawValue))
    if !message.isEmpty {
      fields.append(name: "grpc-message", value: PercentEncoding.encode(message, keeping: isPlain))
    }
    if !details.isEmpty {
      fields.append(name: "grpc-status-details-bin", value: Base64.standard.encode(details, padded: false))
    }
    if let pushbackMilliseconds {
      // With a delay of zero, gRPC's core library (1.85) lets the call wait until its deadline.
      let delay = pushbackMilliseconds == 0 ? 1 : pushbackMilliseconds
      fields.append(name: Self.pushbackField, value: String(Int32(clamping: delay)))
    }
    if !requestID.isEmpty { fields.append(name: Self.requestIDField, value: requestID) }
    return fields
  }

  /// The name of the field with ``requestID``, in HTTP responses too.
  package static let requestIDField = "x-request-id"

  private static let pushbackField = "grpc-retry-pushback-ms"

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
      PercentEncoding.decode(fields["grpc-message"] ?? ""),
      details: fields["grpc-status-details-bin"].flatMap { Base64.standard.decodeLeniently($0) } ?? [])
    pushbackMilliseconds = fields[Self.pushbackField].flatMap { Int64($0) }
  }
}

/// Whether a byte of a message is sent as it is: printable ASCII but `%` (gRPC over HTTP/2, "Status-Message").
private func isPlain(_ byte: UInt8) -> Bool {
  byte >= 0x20 && byte <= 0x7E && byte != UInt8(ascii: "%")
}
