internal import HTTP
internal import RPC

/// The header fields in front of a gRPC answer.
enum GRPCFields {
  /// The answer to nearly every call.
  static let plain = HeaderFields([(":status", "200"), ("content-type", "application/grpc")])
  static let gzip = HeaderFields([
    (":status", "200"), ("content-type", "application/grpc"), ("grpc-encoding", "gzip"),
    ("grpc-accept-encoding", MessageEncoding.accepted),
  ])

  static func head(_ encoding: MessageEncoding, metadata: HeaderFields) -> HeaderFields {
    var fields = encoding == .gzip ? gzip : plain
    for field in metadata.strings { fields.append(name: field.name, value: field.value) }
    return fields
  }
}
