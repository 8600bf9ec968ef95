internal import HTTP
internal import HTTP2
internal import RPC

// The responses of gRPC calls.
extension HTTP2Handler {
  func send(_ reply: Reply, _ call: Call) {
    if !call.isPublic { succeeded() }
    let encoding = call.encoding(reply.compression)
    if reply.initialMetadata.isEmpty, encoding == .identity {
      session.respond(on: call.id, GRPCFields.plain)
    } else {
      session.respond(
        on: call.id, GRPCFields.head(encoding, metadata: reply.initialMetadata), endOfStream: false)
    }
    session.send(on: call.id) { MessageFrame.append(reply.message, to: &$0, encoding: encoding) }
    if reply.trailingMetadata.isEmpty {
      session.finish(call.id, trailers: GRPCFields.ok)
    } else {
      session.finish(call.id, trailers: Status.ok.fields(after: reply.trailingMetadata))
    }
    scheduleFlush()
  }

  /// Ends a call with a status and the trailing metadata of the handler.
  func refuse(_ id: StreamID, _ status: Status, trailing: HeaderFields = HeaderFields()) {
    guard status.initialMetadata.entries.isEmpty else { return refuseAfterHead(id, status) }
    let fields = status.fields(within: session.maxHeaderBytes) { status in
      var fields = status.trailersOnly
      for field in trailing.strings { fields.append(name: field.name, value: field.value) }
      return fields
    }
    guard let fields else { return resetCall(id) }
    refuse(id, fields: fields)
  }

  /// Ends a call with the handler's own header fields, which a response without a message cannot have.
  private func refuseAfterHead(_ id: StreamID, _ status: Status) {
    session.addWork(TransportLimits.costOfRefusal)
    let trailers = status.fields(within: session.maxHeaderBytes) { $0.fields() }
    guard let trailers else { return resetCall(id) }
    session.respond(
      on: id, GRPCFields.head(.identity, metadata: status.initialMetadata.fields), endOfStream: false)
    session.finish(id, trailers: trailers)
    if !session.hasInboundEnded(of: id) { resetAfterOutput(id) }
    scheduleFlush()
  }

  /// Resets a call whose status cannot be sent.
  func resetCall(_ id: StreamID) {
    session.reset(id, .internalError)
    scheduleFlush()
  }

  func refuseEncoding(_ id: StreamID, _ name: String) {
    let status = Status(
      .unimplemented,
      "grpc-encoding '\(name.excerpt)' is not supported; use one of \(MessageEncoding.accepted)")
    refuse(id, fields: status.trailersOnly)
  }

  private func refuse(_ id: StreamID, fields: HeaderFields) {
    session.addWork(TransportLimits.costOfRefusal)
    session.respond(on: id, fields, endOfStream: true)
    if !session.hasInboundEnded(of: id) { resetAfterOutput(id) }
    scheduleFlush()
  }
}

extension Status {
  static let deadlineExceeded = Status(.deadlineExceeded, "the caller's deadline has passed")
  static let requestTooSlow = Status(
    .deadlineExceeded, "the request was not complete within the request timeout")
  static let cancelled = Status(.cancelled, "the caller has gone")
}

/// The header fields of gRPC responses.
enum GRPCFields {
  /// The initial fields without compression and metadata.
  static let plain = ConstantFields(Status.head)
  /// The trailers of a call that succeeded, without metadata.
  static let ok = ConstantFields(Status.ok.fields())
  private static let gzip = {
    var fields = Status.head
    fields.append(name: "grpc-encoding", value: "gzip")
    return fields
  }()

  static func head(_ encoding: MessageEncoding, metadata: HeaderFields) -> HeaderFields {
    var fields = encoding == .gzip ? gzip : Status.head
    for field in metadata.strings { fields.append(name: field.name, value: field.value) }
    return fields
  }
}
