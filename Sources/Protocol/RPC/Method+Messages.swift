package import Wire

extension Method {
  /// A unary method that is decided on the spot, on the event loop.
  package static func unary<Request: WireMessage, Response: WireMessage>(
    _ path: String, _ handler: @escaping (Request, CallContext) throws(Status) -> Response
  ) -> Method {
    Method(
      path: path,
      handler: .unary { bytes, context in
        do throws(Status) {
          return .now(Reply(try handler(try Request.decoded(from: bytes), context).encodedBytes()))
        } catch {
          return .refused(error)
        }
      })
  }

  /// A unary method that waits for something.
  package static func waitingUnary<Request: WireMessage, Response: WireMessage>(
    _ path: String, _ handler: @escaping @Sendable (Request, CallContext) async throws(Status) -> Response
  ) -> Method {
    Method(
      path: path,
      handler: .unary { bytes, context in
        do throws(Status) {
          let request = try Request.decoded(from: bytes)
          return .later { () async throws(Status) in
            Reply(try await handler(request, context).encodedBytes())
          }
        } catch {
          return .refused(error)
        }
      })
  }

  /// A unary method that says with its answer what goes beside it.
  package static func unary<Request: WireMessage>(
    _ path: String, replying handler: @escaping (Request, CallContext) throws(Status) -> Reply
  ) -> Method {
    Method(
      path: path,
      handler: .unary { bytes, context in
        do throws(Status) {
          return .now(try handler(try Request.decoded(from: bytes), context))
        } catch {
          return .refused(error)
        }
      })
  }

  /// A method that answers one request with any number of messages.
  package static func serverStreaming<Request: WireMessage, Response: WireMessage>(
    _ path: String,
    _ handler:
      @escaping @Sendable (Request, ResponseWriter<Response>, CallContext) async throws(Status) -> Void
  ) -> Method {
    bidirectional(path) {
      (requests: RequestReader<Request>, responses: ResponseWriter<Response>, context) async throws(Status) in
      guard let request = try await requests.next() else { throw Status.oneMessageExpected }
      try await handler(request, responses, context)
    }
  }

  /// A method that answers any number of messages with one.
  package static func clientStreaming<Request: WireMessage, Response: WireMessage>(
    _ path: String,
    _ handler: @escaping @Sendable (RequestReader<Request>, CallContext) async throws(Status) -> Response
  ) -> Method {
    bidirectional(path) {
      (requests: RequestReader<Request>, responses: ResponseWriter<Response>, context) async throws(Status) in
      try await responses.write(try await handler(requests, context))
    }
  }

  /// A method with any number of messages each way, in whatever order the handler likes.
  ///
  /// The call ends when the handler does: what the caller still sends is then refused. The handler's task is
  /// cancelled when the caller has gone or its deadline has passed; reading and writing then throw.
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

  /// A method that the contract has and this version of the program has not.
  package static func unimplemented(_ path: String) -> Method {
    Method(
      path: path,
      handler: .unary { _, _ in .refused(Status(.unimplemented, "\(path) is not available in this version")) }
    )
  }
}

extension Reply {
  /// The answer that is this message.
  package init(_ message: some WireMessage) { self.init(message.encodedBytes()) }
}
