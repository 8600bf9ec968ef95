package import Wire

extension Status {
  /// The domain of all error reasons (`google.rpc.ErrorInfo`).
  package static let errorDomain = "entitled"

  /// A status with details for programs: a stable reason, metadata, the invalid field, and a retry delay. Details and
  /// message contain excerpts of longer values.
  ///
  /// - Parameters:
  ///   - code: gRPC's code.
  ///   - reason: UPPER_SNAKE_CASE, stable across versions.
  ///   - message: the problem and its remedy, for people.
  ///   - metadata: the subject of the reason, under lowerCamelCase names.
  ///   - field: the invalid field of the request, under its name in the contract.
  ///   - retryAfterMilliseconds: the delay before a retry, also of gRPC's own ones.
  package init(
    _ code: StatusCode, reason: String, _ message: String, metadata: [(name: String, value: String)] = [],
    field: String? = nil, retryAfterMilliseconds: Int64? = nil
  ) {
    var message = message
    for entry in metadata where entry.value.excerpt != entry.value {
      message = message.replacing(entry.value, with: entry.value.excerpt)
    }
    message = message.excerpt(of: Self.maxMessage)
    var details: [any WireMessage] = []
    details.append(
      GoogleRPC.ErrorInfo.with { info in
        info.reason = reason
        info.domain = Self.errorDomain
        info.metadata = metadata.map { entry in
          .with {
            $0.key = entry.name
            $0.value = entry.value.excerpt
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
    self.init(code, message, details: Self.serialized(code, message, details))
    pushbackMilliseconds = retryAfterMilliseconds
  }

  /// The status for a message that cannot be decoded.
  package init(_ error: WireError) {
    switch error {
    case .tooLarge(let limit):
      self.init(
        .resourceExhausted, reason: "MESSAGE_TOO_LARGE",
        "the message needs more than \(limit) bytes of memory")
    case .textTooLong:
      self.init(.invalidArgument, reason: "FIELD_TOO_LONG", error.description, field: error.field)
    case .malformed, .tooDeep, .invalidUTF8, .embeddedNUL, .notJSON, .unknownField, .duplicateField,
      .invalidValue:
      self.init(
        .invalidArgument, reason: "MALFORMED_MESSAGE", error.description.excerpt,
        field: error.field?.excerpt)
    }
  }

  /// The stable reason of the details; `nil` without one.
  package var reason: String? { detail(GoogleRPC.ErrorInfo.self)?.reason }

  /// The invalid field of the request, under its name in the contract; `nil` without one.
  package var field: String? { detail(GoogleRPC.BadRequest.self)?.fieldViolations.first?.field }

  /// The delay of `google.rpc.RetryInfo` in whole seconds, rounded up; `nil` without one.
  package var retrySeconds: Int64? {
    detail(GoogleRPC.RetryInfo.self)?.retryDelay.map { $0.seconds + ($0.nanos > 0 ? 1 : 0) }
  }

  /// The first detail of this type.
  private func detail<Message: WireMessage>(_ type: Message.Type) -> Message? {
    let packed = (try? GoogleRPC.Status.decode(details))?.details ?? []
    return packed.lazy.compactMap { try? $0.unpacked(as: type) }.first
  }

  /// The same error under another code.
  package func with(code: StatusCode) -> Status {
    var status = self
    status.code = code
    if var details = try? GoogleRPC.Status.decode(details) {
      details.code = Int32(code.rawValue)
      status.details = details.encodedBytes()
    }
    return status
  }

  /// In characters.
  private static let maxMessage = 1_000

  private static func serialized(_ code: StatusCode, _ message: String, _ details: [any WireMessage])
    -> [UInt8]
  {
    GoogleRPC.Status.with { status in
      status.code = Int32(code.rawValue)
      status.message = message
      status.details = details.map { GoogleProtobuf.AnyMessage(packing: $0) }
    }.encodedBytes()
  }
}

extension WireMessage {
  /// Decodes the message of a caller.
  ///
  /// - Throws: `INVALID_ARGUMENT` if malformed or with a text over its limit, `RESOURCE_EXHAUSTED` above the memory
  ///   limit.
  static func decoded(from bytes: UnsafeRawBufferPointer) throws(Status) -> Self {
    do throws(WireError) {
      return try decode(bytes, limitsText: true)
    } catch {
      throw Status(error)
    }
  }

  /// Decodes the message of a caller from an array.
  static func decoded(from bytes: [UInt8]) throws(Status) -> Self {
    do throws(WireError) {
      return try decode(bytes, limitsText: true)
    } catch {
      throw Status(error)
    }
  }
}

extension String {
  /// The first 200 characters, for errors and logs that repeat a value of a caller.
  package var excerpt: String { excerpt(of: 200) }

  /// The first characters, with an ellipsis if there are more. A character is a scalar here: one that people see can
  /// have any number of them.
  func excerpt(of length: Int) -> String {
    guard utf8.count > length,
      let end = unicodeScalars.index(
        startIndex, offsetBy: length, limitedBy: unicodeScalars.endIndex), end < endIndex
    else { return self }
    return self[..<end] + "..."
  }
}
