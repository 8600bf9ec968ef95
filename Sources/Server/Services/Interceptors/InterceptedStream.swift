internal import Callers
internal import RPC
internal import Synchronization

/// Whether a running stream is still permitted. ``InterceptorChain`` revalidates it after each replacement of the
/// callers, on the thread of the replacement, while the handler runs elsewhere.
final class StreamPermission<Shared: Interceptor & Sendable>: Sendable {
  private struct State {
    var message: [UInt8]?
    /// Whether the callers were replaced since the call started.
    var isStale = false
    var denial: Status?
  }

  private let started: StartedCall<Shared>
  private let state = Mutex(State())

  init(_ started: StartedCall<Shared>) { self.started = started }

  /// The status with which the stream has to end; `nil` while it is permitted.
  var denial: Status? { state.withLock { $0.denial } }

  /// Keeps the last request message, which names what the caller needs access to.
  func received(_ message: [UInt8]) {
    let isStale = state.withLock { state in
      state.message = message
      return state.isStale
    }
    if isStale { revalidate() }
  }

  /// Ends the stream if its caller has lost the permission.
  func revalidate() {
    var call = started.call
    let message = state.withLock { state in
      state.isStale = true
      return state.message
    }
    do throws(Status) {
      try started.chain.interceptors.revalidate(&call, message)
    } catch {
      // The call was authenticated when it started: now it lacks permission.
      let denial = error.code == .unauthenticated ? error.with(code: .permissionDenied) : error
      state.withLock { $0.denial = denial }
      call.context.retirement?.begin()
    }
  }
}

/// The messages of a streaming call. Each one passes the interceptors before the handler receives it.
struct InterceptedStream<Shared: Interceptor & Sendable>: MessageStream {
  let messages: any MessageStream
  /// The call as it was accepted; each message is checked against it.
  let started: StartedCall<Shared>
  /// Checked before each message in both directions.
  let permission: StreamPermission<Shared>

  /// Waits for the next message of the peer, and lets it pass the interceptors.
  ///
  /// - Throws: the status of an interceptor, or with which the stream lost its permission.
  func next() async throws(Status) -> ReceivedMessage? {
    guard let message = try await messages.next() else { return nil }
    permission.received(message.bytes)
    if let denial = permission.denial { throw denial }
    var call = started.call
    try message.bytes.withUnsafeBufferPointer { buffer throws(Status) in
      try started.chain.interceptors.receive(UnsafeRawBufferPointer(buffer), &call)
    }
    return message
  }

  func send(_ message: [UInt8], compression: MessageCompression) async throws(Status) {
    if let denial = permission.denial { throw denial }
    try await messages.send(message, compression: compression)
  }

  func begin() async { await messages.begin() }

  func attach(initial: Metadata, trailing: Metadata) async {
    await messages.attach(initial: initial, trailing: trailing)
  }
}
