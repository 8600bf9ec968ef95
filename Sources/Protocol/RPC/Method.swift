package import HTTP

/// One method of a service: where it is found, and what answers it.
package struct Method {
  /// `/package.Service/Method`.
  package let path: String
  package let handler: Handler
  /// Whether a call may be made at all, asked where reading its request is costly: `nil`, or the refusal. It counts the
  /// call, so a handler that it is handed to then has to be told (``CallContext/admitted``); others ask for themselves.
  package let admission: (_ context: CallContext) -> Status?

  package init(
    path: String, handler: Handler, admission: @escaping (_ context: CallContext) -> Status? = { _ in nil }
  ) {
    self.path = path
    self.handler = handler
    self.admission = admission
  }

  package enum Handler {
    /// One message in, one out. Called on the connection's event loop: it decides at once, or says with
    /// ``UnaryResult/later(_:)`` that it must wait. The bytes are there only during the call.
    case unary((_ request: UnsafeRawBufferPointer, _ context: CallContext) -> UnaryResult)
    /// Any number of messages each way.
    case streaming(
      @Sendable (_ messages: any MessageStream, _ context: CallContext) async throws(Status) -> Void)
  }
}

/// What a unary handler has to say when it is called.
package enum UnaryResult {
  case now(Reply)
  case refused(Status)
  /// The answer needs waiting, for a disk or a network; the work is done in a task of its own.
  case later(@Sendable () async throws(Status) -> Reply)
}

/// The answer to a unary call.
package struct Reply: Sendable {
  /// The serialized message.
  package var message: [UInt8]
  /// The handler's own fields before and behind the message.
  package var initialMetadata = HeaderFields()
  package var trailingMetadata = HeaderFields()
  package var packing = MessageCompression.likeRequest

  package init(_ message: [UInt8]) { self.message = message }
}
