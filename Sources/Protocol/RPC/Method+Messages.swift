package import Wire

/// A request that is not decoded: the handler decides whether and when. Valid only during the call.
package struct EncodedRequest<Request: WireMessage> {
  /// The serialized message.
  package let bytes: UnsafeRawBufferPointer

  package init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// The message.
  ///
  /// - Throws: `INVALID_ARGUMENT` for bytes that are not one.
  package func decoded() throws(Status) -> Request { try Request.decoded(from: bytes) }

  /// The number of fields with this number, counted without decoding them; `nil` for malformed bytes.
  package func count(ofField number: UInt32) -> Int? { WireFields.count(of: number, in: bytes) }

  /// A copy of the bytes, which can be decoded later.
  package func copied() -> CopiedRequest<Request> { CopiedRequest(bytes: Array(bytes)) }
}

/// A request that waits to be decoded: a message takes several times its bytes.
package struct CopiedRequest<Request: WireMessage>: Sendable {
  fileprivate let bytes: [UInt8]

  /// The message.
  ///
  /// - Throws: `INVALID_ARGUMENT` for bytes that are not one.
  package func decoded() throws(Status) -> Request { try Request.decoded(from: bytes) }
}

extension Method {
  /// A unary method that runs synchronously on the event loop.
  /// The handler must not block. A malformed request is answered with `INVALID_ARGUMENT` before it runs.
  package static func unary<Request: WireMessage, Response: WireMessage>(
    _ path: String, _ handler: @escaping (Request, CallContext) throws(Status) -> Response
  ) -> Method {
    eventLoop(path) { (request: EncodedRequest<Request>, context) throws(Status) in
      Reply(try handler(try request.decoded(), context))
    }
  }

  /// A unary method that runs synchronously on the event loop and writes its reply itself.
  /// The handler must not block. It decides whether to decode the request.
  package static func eventLoop<Request: WireMessage>(
    _ path: String, _ handler: @escaping (EncodedRequest<Request>, CallContext) throws(Status) -> Reply
  ) -> Method {
    Method(
      path: path,
      handler: .unary { bytes, context in
        do throws(Status) {
          return .reply(try handler(EncodedRequest(bytes: bytes), context))
        } catch {
          return .failure(error)
        }
      })
  }

  /// The same for a method that may return work which then runs as a task.
  package static func eventLoop<Request: WireMessage>(
    _ path: String,
    _ handler: @escaping (EncodedRequest<Request>, CallContext) throws(Status) -> UnaryResult
  ) -> Method {
    Method(
      path: path,
      handler: .unary { bytes, context in
        do throws(Status) {
          return try handler(EncodedRequest(bytes: bytes), context)
        } catch {
          return .failure(error)
        }
      })
  }

  /// A unary method that runs as a task, which also decodes the request unless it is small.
  package static func asyncUnary<Request: WireMessage, Response: WireMessage>(
    _ path: String, _ handler: @escaping @Sendable (Request, CallContext) async throws(Status) -> Response
  ) -> Method {
    asyncUnary(path) { (request: Request, context) async throws(Status) -> Reply in
      Reply(try await handler(request, context))
    }
  }

  /// The same for a handler that adds metadata to its response.
  package static func asyncUnary<Request: WireMessage>(
    _ path: String, _ handler: @escaping @Sendable (Request, CallContext) async throws(Status) -> Reply
  ) -> Method {
    Method(
      path: path,
      handler: .asyncUnary { bytes, context throws(Status) in
        let request = EncodedRequest<Request>(bytes: bytes)
        guard bytes.count <= maxBytesOnLoop else {
          let copy = request.copied()
          return { () async throws(Status) in try await handler(try copy.decoded(), context) }
        }
        let decoded = try request.decoded()
        return { () async throws(Status) in try await handler(decoded, context) }
      })
  }

  /// A method that sends any number of messages in response to one.
  /// A call without a request message, or with more than one, ends with `UNIMPLEMENTED` before the handler runs.
  package static func serverStreaming<Request: WireMessage, Response: WireMessage>(
    _ path: String,
    _ handler:
      @escaping @Sendable (Request, ResponseWriter<Response>, CallContext) async throws(Status) -> Void
  ) -> Method {
    bidirectional(path) {
      (requests: RequestReader<Request>, responses: ResponseWriter<Response>, context) async throws(Status) in
      guard let request = try await requests.next(), try await requests.next() == nil else {
        throw Status.oneMessageExpected
      }
      try await handler(request, responses, context)
    }
  }

  /// A method that receives any number of messages and sends one.
  package static func clientStreaming<Request: WireMessage, Response: WireMessage>(
    _ path: String,
    _ handler: @escaping @Sendable (RequestReader<Request>, CallContext) async throws(Status) -> Response
  ) -> Method {
    bidirectional(path) {
      (requests: RequestReader<Request>, responses: ResponseWriter<Response>, context) async throws(Status) in
      try await responses.write(try await handler(requests, context))
    }
  }

  /// A method with any number of messages each way, in the order that the handler chooses.
  ///
  /// The call ends when the handler returns; later messages of the caller are rejected. The task of the
  /// handler is cancelled at the caller's disconnect or deadline; reading and writing then throw.
  package static func bidirectional<Request: WireMessage, Response: WireMessage>(
    _ path: String,
    _ handler:
      @escaping @Sendable (
        RequestReader<Request>, ResponseWriter<Response>, CallContext
      ) async throws(Status) -> Void
  ) -> Method {
    Method(
      path: path,
      handler: .streaming { stream, context async throws(Status) in
        try await handler(RequestReader(stream: stream), ResponseWriter(stream: stream), context)
      })
  }
}

extension Reply {
  /// A reply that consists of this message.
  package init(_ message: some WireMessage) { self.init(message.encodedBytes()) }
}
