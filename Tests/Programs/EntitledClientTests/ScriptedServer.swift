import HTTP
import HTTP2
import NIOCore
import NIOPosix
import RPC
import Synchronization
import Wire

/// An HTTP/2 server that answers each request as a script says.
final class ScriptedServer: Sendable {
  typealias Fields = [(name: String, value: String)]

  enum Reply: Sendable {
    case response(head: Fields, body: [UInt8] = [], trailers: Fields = [])
    case reset
    case closeConnection

    /// A gRPC response with one message.
    static func message(_ message: some WireMessage, status: String = "0") -> Reply {
      messages([message], status: status)
    }

    static func messages<Message: WireMessage>(_ messages: [Message], status: String = "0") -> Reply {
      var body: [UInt8] = []
      for message in messages { MessageFrame.append(message.encodedBytes(), to: &body, encoding: .identity) }
      return .response(
        head: [(":status", "200"), ("content-type", "application/grpc")], body: body,
        trailers: [("grpc-status", status)])
    }

    /// A gRPC response without a message.
    static func status(_ code: String, _ message: String) -> Reply {
      .response(
        head: [
          (":status", "200"), ("content-type", "application/grpc"), ("grpc-status", code),
          ("grpc-message", message),
        ])
    }
  }

  private let requests = Mutex<[HeaderFields]>([])
  private let script: @Sendable (HeaderFields) -> Reply

  private init(_ script: @escaping @Sendable (HeaderFields) -> Reply) { self.script = script }

  /// The header fields of all requests.
  var received: [HeaderFields] { requests.withLock { $0 } }

  fileprivate func reply(to head: HeaderFields) -> Reply {
    requests.withLock { $0.append(head) }
    return script(head)
  }

  /// Serves on a free port while `body` runs.
  static func run(
    _ script: @escaping @Sendable (HeaderFields) -> Reply,
    _ body: (_ server: ScriptedServer, _ port: Int) async throws -> Void
  ) async throws {
    let server = ScriptedServer(script)
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ScriptedConnection(server))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    do {
      try await body(server, channel.localAddress?.port ?? 0)
      try await channel.close()
    } catch {
      try await channel.close()
      throw error
    }
  }
}

/// One connection of a scripted server.
private final class ScriptedConnection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let server: ScriptedServer
  private let session: Session
  private var events: [SessionEvent] = []

  init(_ server: ScriptedServer) throws {
    self.server = server
    session = try Session.server()
  }

  func channelActive(context: ChannelHandlerContext) { flush(context) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let isValid = unwrapInboundIn(data).withUnsafeReadableBytes { (try? session.receive($0)) != nil }
    guard isValid else { return context.close(promise: nil) }
    session.takeEvents(into: &events)
    for event in events {
      switch event {
      case .headers(let id, endOfStream: true), .data(let id, endOfStream: true): answer(id, context)
      default: continue
      }
    }
    flush(context)
  }

  private func answer(_ id: StreamID, _ context: ChannelHandlerContext) {
    switch server.reply(to: session.head(of: id) ?? HeaderFields()) {
    case .response(let head, let body, let trailers):
      let isHeadOnly = body.isEmpty && trailers.isEmpty
      session.respond(on: id, HeaderFields(head), endOfStream: isHeadOnly)
      guard !isHeadOnly else { return }
      session.send(on: id) { $0 += body }
      session.finish(id, trailers: HeaderFields(trailers))
    case .reset: session.reset(id, .cancel)
    case .closeConnection: context.close(promise: nil)
    }
  }

  private func flush(_ context: ChannelHandlerContext) {
    var output = context.channel.allocator.buffer(capacity: 1_024)
    try? session.withOutput { piece in
      output.writeBytes(piece)
      return true
    }
    if output.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(output), promise: nil) }
  }
}
