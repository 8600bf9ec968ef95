import Dispatch
import Glibc
import Logging
import NIOCore
import NIOPosix
import RPC
import Testing
import Wire

@testable import Transport

@Suite("Turns of connections")
struct ReadingTurnTests {
  @Test("A turn ends after a millisecond, or with its sixteenth task")
  func end() {
    let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    let turn = ReadingTurn(start: start, startedTasks: 5)
    #expect(!turn.hasEnded(at: start + .microseconds(999), startedTasks: 20))
    #expect(turn.hasEnded(at: start + .milliseconds(1), startedTasks: 5))
    #expect(turn.hasEnded(at: start, startedTasks: 21))
  }

  /// The neighbour's call arrives while the first of the others is answered, all of which the loop has read by then.
  @Test(
    "A connection with many calls in one read lets its neighbour on the loop have a turn",
    .disabled(if: getenv("ENTITLED_SANITIZED") != nil, "the loop needs longer than the pause after a turn"))
  func neighbour() async throws {
    let calls = Calls()
    let method = Method.unary("/t.T/M") { (request: CheckRequest, _) in
      calls.answer(request.customerId)
      return Entitlement()
    }
    let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    // Beside all other tests, the first bytes of a connection may be late.
    var limits = TransportLimits()
    limits.times.handshake = 600_000
    let listener = try await Listener.listen(
      at: HostAndPort(host: "127.0.0.1", port: 0), on: loops, serving: .serving([method], limits: limits),
      logger: Logger(label: "test"))
    let (deep, neighbour) = (
      try await RawClient(port: listener.address.port), try await RawClient(port: listener.address.port)
    )
    var seen = calls.seen.makeAsyncIterator()
    try await neighbour.send(neighbour.start + neighbour.call("ready"))
    #expect(await seen.next() == "ready")
    // Unknown frames, so that the loop reads as much at once as it ever does.
    try await deep.send(deep.start + Array(repeating: deep.unknownFrame, count: 20).joined())
    try await deep.send(deep.call("ready"))
    #expect(await seen.next() == "ready")

    try await deep.send((0..<Self.count).map { deep.call("\($0)") }.joined())
    #expect(await seen.next() == "0")
    try await neighbour.send(neighbour.call("neighbour"))
    calls.release()
    var earlier = 0
    while let name = await seen.next(), name != "neighbour" { earlier += 1 }
    #expect(earlier < Self.count / 2, "\(earlier) calls of the other connection were answered before")
    try await deep.close()
    try await neighbour.close()
    await listener.shutDown(grace: .seconds(5))
    try await loops.shutdownGracefully()
  }

  private static let count = 400

  /// Notes the customers of calls. The call of customer 0 lasts until it is released, and every sixteenth a turn.
  private final class Calls: Sendable {
    let seen: AsyncStream<String>
    private let note: AsyncStream<String>.Continuation
    private let released = DispatchSemaphore(value: 0)

    init() { (seen, note) = AsyncStream.makeStream() }

    func answer(_ customer: String) {
      note.yield(customer)
      guard let number = Int(customer), number.isMultiple(of: 16) else { return }
      if number == 0 { _ = released.wait(timeout: .now() + 60) }
      usleep(1_100)
    }

    func release() { released.signal() }
  }
}

/// An HTTP/2 connection that sends its frames in one piece, and ignores the responses.
private final class RawClient {
  private let channel: any Channel
  private var lastStream: UInt32 = 0

  init(port: Int) async throws {
    channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port).get()
  }

  /// The preface and empty settings.
  let start = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + RawClient.frame(4)
  let unknownFrame = RawClient.frame(0x16, payload: [UInt8](repeating: 0, count: 16_384))

  /// The frames of a call for a customer.
  func call(_ customer: String) -> [UInt8] {
    lastStream += lastStream == 0 ? 1 : 2
    var message: [UInt8] = []
    MessageFrame.append(
      CheckRequest.with { $0.customerId = customer }.encodedBytes(), to: &message, encoding: .identity)
    return Self.frame(1, flags: 4, stream: lastStream, payload: Self.head)
      + Self.frame(0, flags: 1, stream: lastStream, payload: message)
  }

  /// POST, http, and three literals whose names are in the static table (RFC 7541, appendix A).
  private static let head: [UInt8] =
    [0x83, 0x86, 0x04, 6] + Array("/t.T/M".utf8) + [0x01, 1] + Array("a".utf8)
    + [0x0f, 0x10, 16] + Array("application/grpc".utf8)

  private static func frame(
    _ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = []
  ) -> [UInt8] {
    let length = UInt32(payload.count)
    return (1..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + [type, flags]
      + (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) } + payload
  }

  /// Returns once the bytes are in the buffers of the sockets.
  func send(_ bytes: some Sequence<UInt8>) async throws {
    try await channel.writeAndFlush(ByteBuffer(bytes: Array(bytes))).get()
  }

  func close() async throws { try await channel.close().get() }
}
