import Dispatch
import HTTP
import NIOCore
import NIOPosix
import Platform
import Synchronization
import Testing

@testable import Transport

@Suite struct WaitingRequestsTests {
  @Test("Requests are limited in number and bytes, and the last quarter is for preferred ones")
  func limits() {
    let few = WaitingRequests(count: 4, bytes: 1000)
    #expect((0..<4).map { _ in few.begin(1) } == [true, true, true, false])
    #expect((0..<2).map { _ in few.begin(1, preferred: true) } == [true, false])
    few.end(1)
    few.end(1)
    #expect(few.begin(1))
    let small = WaitingRequests(count: 100, bytes: 1000)
    #expect([700, 51, 50].map { small.begin($0) } == [true, false, true])
    #expect([251, 250].map { small.begin($0, preferred: true) } == [false, true])
  }

  @Test(
    "A request over the limit gets 503 at once, and further ones are accepted when those before it are handled"
  )
  func responder() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let threads = BackgroundThreads(count: 1)
    let mailbox = LoopMailbox(group.next())
    let responder = HTTPResponder(
      handler: { _ in .text(200, "") }, refusal: nil, threads: { _ in threads }, isPublic: { _ in false },
      isPreferred: { $0.path == "/preferred" }, waiting: WaitingRequests(count: 4, bytes: 1 << 20))
    let (statuses, continuation) = AsyncStream.makeStream(of: Int.self)
    var received = statuses.makeAsyncIterator()
    func send(_ path: String) {
      let request = HTTPRequest(method: "POST", target: path, headers: HeaderFields(), body: [])
      _ = responder.start(request, mailbox) { continuation.yield($0.status) }
    }
    // The only thread is occupied, so all requests wait.
    let release = DispatchSemaphore(value: 0)
    threads.async { release.wait() }
    for _ in 0..<4 { send("/") }
    #expect(await received.next() == 503)
    send("/preferred")
    release.signal()
    for _ in 0..<4 { #expect(await received.next() == 200) }
    send("/")
    #expect(await received.next() == 200)
    try await group.shutdownGracefully()
  }
}
