package import Wire

extension Status {
  /// The domain of our error reasons (`google.rpc.ErrorInfo`).
  package static let errorDomain = "entitled"

  /// A status that a program can act on too: a stable reason, what it concerns, which field of the
  /// request is to blame, and when trying again makes sense.
  ///
  /// - Parameters:
  ///   - code: gRPC's code.
  ///   - reason: UPPER_SNAKE_CASE, stable across versions.
  ///   - message: what went wrong and what to do, for people.
  ///   - metadata: what the reason is about, under lowerCamelCase names.
  ///   - field: the request's field that is to blame, under its name in the contract.
  ///   - retryAfterMilliseconds: how long to wait before trying again.
  package init(
    _ code: StatusCode, reason: String, _ message: String, metadata: [(name: String, value: String)] = [],
    field: String? = nil, retryAfterMilliseconds: Int64? = nil
  ) {
    var details: [any WireMessage] = []
    details.append(
      GoogleRPC.ErrorInfo.with { info in
        info.reason = reason
        info.domain = Self.errorDomain
        info.metadata = metadata.map { entry in
          .with {
            $0.key = entry.name
            $0.value = entry.value
          }
        }
      })
    if let field {
      details.append(
        GoogleRPC.BadRequest.with { request in
          request.fieldViolations = [
            .with {
              $0.field = field
              $0.description = message
            }
          ]
        })
    }
    if let retryAfterMilliseconds {
      details.append(
        GoogleRPC.RetryInfo.with { info in
          info.retryDelay = .with {
            $0.seconds = retryAfterMilliseconds / 1_000
            $0.nanos = Int32(retryAfterMilliseconds % 1_000) * 1_000_000
          }
        })
    }
    self.init(code, message, details: Self.packed(code, message, details))
  }

  /// The field's bytes could not be read as its message.
  package init(_ error: WireError) {
    switch error {
    case .tooLarge(let limit):
      self.init(
        .resourceExhausted, reason: "MESSAGE_TOO_LARGE",
        "the message needs more than \(limit) bytes of memory")
    case .malformed, .tooDeep, .invalidUTF8, .embeddedNUL, .notJSON, .unknownField, .duplicateField,
      .invalidValue:
      self.init(.invalidArgument, reason: "MALFORMED_MESSAGE", error.description, field: error.field)
    }
  }

  private static func packed(_ code: StatusCode, _ message: String, _ details: [any WireMessage]) -> [UInt8] {
    GoogleRPC.Status.with { status in
      status.code = Int32(code.rawValue)
      status.message = message
      status.details = details.map { GoogleProtobuf.AnyMessage(packing: $0) }
    }.encodedBytes()
  }
}
