import EntitledClient
import HTTP
import Logging
import NIOCore
import NIOPosix
import RPC
import Synchronization
import Testing
import Transport
import Wire

/// Streaming calls over a real socket, driven by a client session whose window the test controls.
@Suite struct StreamingTests {
  @Test("A handler that sends without end waits for a caller who does not read")
  func backpressure() async throws {
    let sent = Mutex(0)
    let (stopped, continuation) = AsyncStream<Status>.makeStream()
    let host = SharedMethods([
      Method(
        path: "/t.T/Flood",
        handler: .streaming { stream, _ async throws(Status) in
          do throws(Status) {
            while true {
              try await stream.send([UInt8](repeating: 1, count: 64 << 10))
              sent.withLock { $0 += 64 << 10 }
            }
          } catch {
            continuation.yield(error)
            throw error
          }
        })
    ])
    let listener = try await Listener.listen(
      at: HostAndPort(host: "127.0.0.1", port: 0), on: MultiThreadedEventLoopGroup.singleton,
      serving: .init(makeHost: { _ in host.make() }, http: { _ in .text(404, "") }),
      logger: Logger(label: "test"))
    // The client asks and leaves at its deadline; it never reads more than its window of 64 KB a stream.
    do {
      try await ClientConnection.withConnection(host: "127.0.0.1", port: listener.address.port) {
        connection in
        let _: CheckResponse = try await connection.call("/t.T/Flood", CheckRequest(), timeoutSeconds: 1)
      }
    } catch is ClientError {}
    for await status in stopped {
      #expect([.cancelled, .deadlineExceeded].contains(status.code))
      break
    }
    #expect(sent.withLock { $0 } < 64 << 20)
    await listener.shutDown(grace: .seconds(5))
  }
}
