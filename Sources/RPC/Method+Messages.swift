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
          return .now(Reply(try handler(try decoded(bytes), context).encodedBytes()))
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
          let request: Request = try decoded(bytes)
          return .later { () async throws(Status) in
            Reply(try await handler(request, context).encodedBytes())
          }
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
    Method(
      path: path,
      handler: .streaming { stream, context async throws(Status) in
        guard let bytes = try await stream.next() else {
          throw Status(.unimplemented, "this method takes exactly one message and got none")
        }
        let request: Request = try bytes.withUnsafeBytesThrowing { bytes throws(Status) in try decoded(bytes)
        }
        try await handler(request, ResponseWriter(stream: stream), context)
      })
  }

  /// A method with any number of messages each way.
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

/// The messages that the caller of a streaming method sends.
package struct RequestReader<Request: WireMessage>: Sendable {
  let stream: any MessageStream

  /// The next one, or `nil` when there will be no more.
  package func next() async throws(Status) -> Request? {
    guard let bytes = try await stream.next() else { return nil }
    return try bytes.withUnsafeBytesThrowing { bytes throws(Status) in try decoded(bytes) }
  }
}

/// Where the messages of a streaming method go.
package struct ResponseWriter<Response: WireMessage>: Sendable {
  let stream: any MessageStream

  /// Sends one; waits while the caller is slow.
  package func write(_ response: Response) async throws(Status) {
    try await stream.send(response.encodedBytes())
  }
}

private func decoded<Request: WireMessage>(_ bytes: UnsafeRawBufferPointer) throws(Status) -> Request {
  do throws(WireError) {
    return try Request.decode(bytes)
  } catch {
    throw Status(error)
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` that keeps the type of what is thrown.
  fileprivate func withUnsafeBytesThrowing<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeBytes { bytes -> Swift.Result<Result, Failure> in
      do throws(Failure) {
        return .success(try body(bytes))
      } catch {
        return .failure(error)
      }
    }.get()
  }
}
