internal import Bytes
package import HTTP

/// One method of a service: its path and its handler.
package struct Method {
  /// `/package.Service/Method`.
  package let path: String
  /// The implementation, by the way it runs.
  package let handler: Handler
  /// Runs calls whose messages have more than ``maxBytesOnLoop``, on any thread; `nil`: the event loop runs them, too.
  package var large: LargeHandler?
  /// The maximum bytes of a unary request; larger ones are refused before they are decompressed or decoded.
  package var messageLimit = Int.max
  /// Whether ``CallContext/address`` is set. Other calls do without it, because a copy of a text is a measurable part
  /// of the shortest ones.
  package let needsAddress: Bool
  /// Receives each unary call over gRPC that ended as `UNAUTHENTICATED`, with the IP address of its peer: for a method
  /// without ``needsAddress``. It must not block.
  package var unauthenticated: ((_ status: Status, _ address: String) -> Void)?
  /// Whether the method needs no credential: those of health and reflection.
  package let isPublic: Bool

  /// Creates a method. An asynchronous handler also runs calls with large messages.
  package init(path: String, handler: Handler, needsAddress: Bool = false) {
    self.path = path
    self.handler = handler
    self.needsAddress = needsAddress
    if case .asyncUnary(let handler) = handler { large = Self.reading(handler) }
    isPublic = HealthService.serves(path) || ReflectionService.serves(path)
  }

  /// A message with more bytes would delay the other calls of an event loop.
  package static let maxBytesOnLoop = 16 * 1_024

  /// A handler that runs on the connection's event loop. It must not retain the bytes of the request.
  package typealias UnaryHandler = (_ request: UnsafeRawBufferPointer, _ context: CallContext) -> UnaryResult
  /// Decodes the request on the calling thread and returns the remaining work. It must not retain the bytes.
  package typealias AsyncHandler =
    @Sendable (_ request: UnsafeRawBufferPointer, _ context: CallContext) throws(Status) -> UnaryWork
  /// The same for a large message, which `read` returns decompressed. A call that is rejected by its header fields does not
  /// read it, because a message of few bytes may take milliseconds.
  package typealias LargeHandler =
    @Sendable (_ read: () throws(Status) -> ArraySlice<UInt8>, CallContext) throws(Status) -> UnaryWork
  /// Reads and writes any number of messages until the call ends.
  package typealias StreamHandler =
    @Sendable (_ messages: any MessageStream, _ context: CallContext) async throws(Status) -> Void

  /// Returns a handler that reads each large message and calls `handler` with it.
  package static func reading(_ handler: @escaping AsyncHandler) -> LargeHandler {
    { read, context throws(Status) in
      try read().withUnsafeBufferPointer { bytes throws(Status) in
        try handler(UnsafeRawBufferPointer(bytes), context)
      }
    }
  }

  /// The handler of a method, by the way it runs.
  package enum Handler {
    /// Runs on the event loop and must not block.
    case unary(UnaryHandler)
    /// Runs as a task and may be called on any thread.
    case asyncUnary(AsyncHandler)
    /// Runs as a task for as long as the call.
    case streaming(StreamHandler)
  }
}

/// The rest of a unary call, which runs as a task because it waits for a disk or a network.
package typealias UnaryWork = @Sendable () async throws(Status) -> Reply

/// The result of a unary handler.
package enum UnaryResult: Sendable {
  /// The call succeeded.
  case reply(Reply)
  /// The call failed; the status is sent as it is.
  case failure(Status)
  /// The rest of the call, to be run as a task.
  case async(UnaryWork)
  /// Another thread delivers it.
  case later(PendingResult)

  /// Calls an asynchronous handler, which decodes the request now and runs later.
  package init(
    preparing handler: Method.AsyncHandler, _ request: UnsafeRawBufferPointer, _ context: CallContext
  ) {
    do throws(Status) {
      self = .async(try handler(request, context))
    } catch {
      self = .failure(error)
    }
  }
}

/// The response to a unary call.
package struct Reply: Sendable {
  /// The serialized message.
  package var message: [UInt8]
  /// The handler's own fields in the response headers, before the message.
  package var initialMetadata = HeaderFields()
  /// The handler's own fields in the trailers, after the message.
  package var trailingMetadata = HeaderFields()
  /// Whether the response message is compressed.
  package var compression = MessageCompression.likeRequest

  package init(_ message: [UInt8]) { self.message = message }
}

/// The properties of a call besides its messages.
package struct CallContext: Sendable {
  /// The header fields of the request.
  package private(set) var headers: HeaderFields
  /// The caller's timeout, from the arrival of the header fields; `nil` for none.
  package let timeout: Timeout?
  /// The client certificate that the transport has verified.
  package let peer: PeerCertificate?
  /// The IP address of the peer; empty if it is not known or not needed (``Method/needsAddress``).
  package var address = ""
  /// The network of the peer, for limits; `nil` if it is not known.
  package var network: PeerNetwork?
  /// Whether the message of a unary call arrived compressed.
  package var messageWasCompressed = false
  /// The operator's name of the caller; empty if callers are not authenticated.
  package var caller = ""
  /// Whether the caller demands an answer that includes a position, in ``requiredPositionField``.
  package var requiresPosition = false
  /// `false` if a ``RequestHead`` found no `traceparent` in ``headers``, so that tracing need not search for it.
  package var mayHaveTraceParent = true
  /// The roles of the caller as bits, which the layer that authenticates assigns.
  package var callerRoles: UInt8 = 0
  /// Announces the end of the connection to a stream; `nil` for other calls.
  package var retirement: CallRetirement?

  package init(headers: HeaderFields, timeout: Timeout?, peer: PeerCertificate? = nil) {
    self.headers = headers
    self.timeout = timeout
    self.peer = peer
  }

  /// The context of a call that is a plain HTTP request.
  package init(_ request: HTTPRequest, timeout: Timeout? = nil) {
    self.init(headers: request.headers, timeout: timeout, peer: request.peer)
    address = request.address
    network = PeerNetwork(address: request.address)
  }

  /// The name of the metadata with the position that an answer must include.
  package static var requiredPositionField: StaticString { "entitled-at-least" }

  /// Sets ``requiresPosition`` by the header fields, for calls whose fields no ``RequestHead`` read.
  package mutating func findRequiredPosition() {
    var isFound = false
    headers.withFields { fields in
      for field in fields where field.name.equals(Self.requiredPositionField) { isFound = true }
    }
    requiresPosition = isFound
  }

  /// Frees the header fields, for lasting calls of public methods, which do not read them.
  package mutating func discardHeaders() { headers = HeaderFields() }

  /// The metadata that the caller attached.
  package var metadata: Metadata { Metadata(headers) }
}
