internal import HTTP
internal import RPC
internal import Wire

/// The properties of a call that its responses repeat.
struct RecordedRequest: Sendable {
  private let headers: [Conformance.Header]
  private let timeout: Int64
  /// The messages since the last response.
  var requests: [Conformance.Packed] = []

  init(_ context: CallContext) {
    var names: [String] = []
    var values: [String: [String]] = [:]
    for field in context.headers.strings where !field.name.hasPrefix(":") {
      if values[field.name] == nil { names.append(field.name) }
      values[field.name, default: []].append(field.value)
    }
    headers = names.map { name in
      .with {
        $0.name = name
        $0.value = values[name] ?? []
      }
    }
    timeout = (context.timeout?.nanoseconds ?? 0) / 1_000_000
  }

  /// Records a message as it arrived, with the fields that this server does not know.
  mutating func record<Message: WireMessage>(_: Message, bytes: [UInt8]) {
    requests.append(.with(type: Message.messageType.name, bytes))
  }

  private var info: Conformance.ConformancePayload.RequestInfo {
    .with {
      $0.requestHeaders = headers
      $0.timeoutMs = timeout
      $0.requests = requests
    }
  }

  /// The details of an error, which repeat the call.
  var details: Conformance.Packed {
    .with(type: Conformance.ConformancePayload.RequestInfo.messageType.name, info.encodedBytes())
  }

  func payload(_ data: [UInt8], withRequest: Bool) -> Conformance.ConformancePayload {
    .with {
      $0.data = data
      $0.requestInfo = withRequest ? info : nil
    }
  }

  func payload(_ definition: Conformance.UnaryResponseDefinition) -> Conformance.ConformancePayload {
    guard case .responseData(let data)? = definition.response else { return payload([], withRequest: true) }
    return payload(data, withRequest: true)
  }
}

extension Conformance.Packed {
  fileprivate static func with(type: String, _ bytes: [UInt8]) -> Conformance.Packed {
    .with {
      $0.typeUrl = "type.googleapis.com/" + type
      $0.value = bytes
    }
  }
}

extension Conformance.Error {
  /// The status that ends a call before its first message.
  func status(
    _ call: RecordedRequest, _ headers: [Conformance.Header] = [], _ trailers: [Conformance.Header] = []
  ) -> Status {
    var described = self
    described.details.append(call.details)
    var status = described.status
    status.initialMetadata = headers.metadata
    status.trailingMetadata = trailers.metadata
    return status
  }

  fileprivate var status: Status {
    let all = GoogleRPC.Status.with {
      $0.code = code
      $0.message = message
      $0.details = details.map { packed in
        .with {
          $0.typeUrl = packed.typeUrl
          $0.value = packed.value
        }
      }
    }
    return Status(
      StatusCode(rawValue: Int(code)) ?? .unknown, message, details: details.isEmpty ? [] : all.encodedBytes()
    )
  }
}

extension Conformance.StreamResponseDefinition {
  /// Ends a stream whose messages are sent.
  func end(_ call: RecordedRequest) throws(Status) {
    guard let error else { return }
    throw responseData.isEmpty ? error.status(call) : error.status
  }
}

extension [Conformance.Header] {
  /// The metadata that the fields encode.
  var metadata: Metadata {
    Metadata(HeaderFields(flatMap { header in header.value.map { (header.name.lowercased(), $0) } }))
  }
}

extension MessageStream {
  func attach(_ headers: [Conformance.Header], _ trailers: [Conformance.Header]) async {
    await attach(initial: headers.metadata, trailing: trailers.metadata)
  }

  func send(_ message: some WireMessage) async throws(Status) {
    try await send(message.encodedBytes(), compression: .likeRequest)
  }
}
