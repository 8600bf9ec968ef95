package import NIOCore
internal import NIOTLS

/// Encrypts and decrypts one connection, as its first handler.
///
/// It fires `TLSUserEvent.handshakeCompleted` before the first content, and ``TLSFailure`` as an error, after which it closes
/// the connection.
package final class TLSHandler: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  private enum State {
    case handshaking
    case open
    /// This side has sent `close_notify`, and still reads.
    case outputEnded
    case closed
  }

  private let engine: TLSEngine
  private var state = State.handshaking
  /// Writes that wait for a flush, or for the end of the handshake.
  private var writes: [(content: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
  private var flushedCount = 0

  /// The handler of a connection that a server has accepted.
  package init(server context: TLSContext) throws(TLSFailure) {
    engine = try TLSEngine(context)
  }

  /// The handler of a client's connection to `host`; `nil` leaves the name of the certificate open.
  package init(client context: TLSContext, host: TLSHost?) throws(TLSFailure) {
    engine = try TLSEngine(context, host: host)
  }

  /// The hosts, URIs and mailboxes in the verified certificate of the client; `nil` if it has presented none.
  package var clientNames: [String]? { engine.clientNames }

  /// The certificates that the server has presented, its own first, in DER.
  package var presentedChain: [[UInt8]] { engine.presentedChain }

  package func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { attempt(context) { try advance(context) } }
  }

  package func channelActive(context: ChannelHandlerContext) {
    context.fireChannelActive()
    attempt(context) { try advance(context) }
  }

  package func channelInactive(context: ChannelHandlerContext) {
    let wasHandshaking = if case .handshaking = state { true } else { false }
    state = .closed
    if wasHandshaking { context.fireErrorCaught(TLSFailure.endedInHandshake) }
    failWrites(ChannelError.ioOnClosedChannel)
    context.fireChannelInactive()
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var records = unwrapInboundIn(data)
    attempt(context) {
      while isReading, let piece = records.readSlice(length: min(records.readableBytes, TLSEngine.pieceSize)),
        piece.readableBytes > 0
      {
        try piece.withUnsafeReadableBytes { try engine.receive($0) }
        try advance(context)
      }
    }
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch state {
    case .handshaking, .open: writes.append((unwrapOutboundIn(data), promise))
    case .outputEnded: promise?.fail(ChannelError.outputClosed)
    case .closed: promise?.fail(ChannelError.ioOnClosedChannel)
    }
  }

  package func flush(context: ChannelHandlerContext) {
    flushedCount = writes.count
    attempt(context) { try encrypt(context) }
  }

  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if mode != .input, case .open = state {
      state = .outputEnded
      engine.end()
      send(context)
    }
    if mode == .all {
      state = .closed
      failWrites(ChannelError.ioOnClosedChannel)
    }
    context.close(mode: mode, promise: promise)
  }

  private var isReading: Bool { if case .closed = state { false } else { true } }

  /// Reports an error, and closes the connection after the alert that OpenSSL has made for it.
  private func attempt(_ context: ChannelHandlerContext, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      guard isReading else { return }
      state = .closed
      send(context)
      failWrites(error)
      context.fireErrorCaught(error)
      context.close(promise: nil)
    }
  }

  /// Continues the handshake, or reads the content of the received records.
  private func advance(_ context: ChannelHandlerContext) throws {
    if case .handshaking = state {
      let isComplete = try engine.handshake()
      send(context)
      guard isComplete, case .handshaking = state else { return }
      state = .open
      context.fireUserInboundEventTriggered(
        TLSUserEvent.handshakeCompleted(negotiatedProtocol: engine.negotiatedProtocol))
      try encrypt(context)
    }
    guard isReading else { return }
    try read(context)
  }

  private func read(_ context: ChannelHandlerContext) throws {
    var content = context.channel.allocator.buffer(capacity: engine.inputCount)
    var hasEnded = false
    reading: while true {
      let reading = try decrypt(into: &content)
      switch reading {
      case .content: continue
      case .needsRecords: break reading
      case .ended:
        hasEnded = true
        break reading
      }
    }
    // Some records of the peer are answered, such as KeyUpdate.
    send(context)
    if content.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(content)) }
    guard hasEnded, isReading else { return }
    // As after the end of a cleartext connection: responses that are not written yet have no reader.
    context.fireChannelReadComplete()
    close(context: context, mode: .all, promise: nil)
  }

  private func decrypt(into content: inout ByteBuffer) throws -> TLSEngine.Reading {
    var reading = TLSEngine.Reading.needsRecords
    try content.writeWithUnsafeMutableBytes(minimumWritableBytes: 1) { buffer in
      reading = try engine.read(into: buffer)
      return if case .content(let count) = reading { count } else { 0 }
    }
    return reading
  }

  /// Encrypts the flushed writes, once the handshake is complete.
  private func encrypt(_ context: ChannelHandlerContext) throws {
    guard flushedCount > 0, case .open = state else { return }
    let flushed = writes.prefix(flushedCount)
    writes.removeFirst(flushedCount)
    flushedCount = 0
    var records = context.channel.allocator.buffer(capacity: 0)
    do {
      for (content, _) in flushed { try encrypt(content, into: &records) }
    } catch {
      for (_, promise) in flushed { promise?.fail(error) }
      throw error
    }
    let promises = flushed.compactMap(\.promise)
    context.writeAndFlush(wrapOutboundOut(records), promise: Self.combined(promises, context))
  }

  private func encrypt(_ content: ByteBuffer, into records: inout ByteBuffer) throws {
    try content.withUnsafeReadableBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        rest = rest.dropFirst(try engine.write(UnsafeRawBufferPointer(rebasing: rest)))
        takeOutput(into: &records)
      }
    }
  }

  /// One promise that fulfils all of them.
  private static func combined(
    _ promises: [EventLoopPromise<Void>], _ context: ChannelHandlerContext
  ) -> EventLoopPromise<Void>? {
    guard promises.count > 1 else { return promises.first }
    let combined = context.eventLoop.makePromise(of: Void.self)
    for promise in promises { combined.futureResult.cascade(to: promise) }
    return combined
  }

  /// Sends what OpenSSL has for the peer.
  private func send(_ context: ChannelHandlerContext) {
    guard engine.outputCount > 0 else { return }
    var records = context.channel.allocator.buffer(capacity: engine.outputCount)
    takeOutput(into: &records)
    context.writeAndFlush(wrapOutboundOut(records), promise: nil)
  }

  private func takeOutput(into records: inout ByteBuffer) {
    let count = engine.outputCount
    records.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { engine.takeOutput(into: $0) }
  }

  private func failWrites(_ error: any Error) {
    let failed = writes
    writes = []
    flushedCount = 0
    for (_, promise) in failed { promise?.fail(error) }
  }
}
