import Callers
import HTTP
import RPC
import Synchronization
import Testing
import Wire

@testable import Console
@testable import Services

@Suite struct AnnouncementsTests {
  @Test("A page that reads slowly gets the newest number only, and the end after it")
  func newest() async {
    let announcements = Announcements()
    announcements.announce(3)
    announcements.announce(7)
    announcements.announce(5)
    announcements.end(.ok, isFinal: true)
    let received = Received()
    await announcements.send(to: received.append)
    #expect(
      received.text
        == "retry: 2000\n\nid: 7\nevent: change\ndata: 7\n\nevent: end\ndata: end\n\n")
  }

  @Test("A stream that ends because the service stops leaves it to the browser to connect again")
  func restart() async {
    let announcements = Announcements()
    announcements.end(Status(.unavailable), isFinal: false)
    let received = Received()
    await announcements.send(to: received.append)
    #expect(received.text == "retry: 2000\n\n")
  }

  @Test("A stream that does not begin has the status of its end")
  func refused() async {
    let announcements = Announcements()
    announcements.end(Status(.permissionDenied), isFinal: true)
    await #expect(throws: Status(.permissionDenied)) { try await announcements.accepted() }
  }
}

@Suite struct LivePagesTests {
  private func person(_ name: String) -> Person {
    Person(name: name, caller: Caller(name: "support", roles: [.read], apps: nil))
  }

  @Test("A person has a limited number of live pages at once; each one that ends makes room")
  func limit() {
    let pages = LivePages()
    var slots = (0..<LivePages.maxPerPerson).compactMap { _ in pages.slot(of: person("lena")) }
    #expect(slots.count == LivePages.maxPerPerson)
    #expect(pages.slot(of: person("lena")) == nil && pages.slot(of: person("ben")) != nil)
    slots.removeLast()
    #expect(pages.slot(of: person("lena")) != nil)
  }

  @Test("All people together have a limited number of live pages")
  func all() {
    let pages = LivePages()
    let slots = (0..<LivePages.maxTotal).compactMap { pages.slot(of: person("\($0)")) }
    #expect(slots.count == LivePages.maxTotal)
    #expect(pages.slot(of: person("another")) == nil)
  }
}

/// The console over methods that only this suite has.
@Suite struct LiveTimeTests {
  @Test("A page is live for a limited time, and its browser does not connect again")
  func limit() async throws {
    let response = try await live(time: .milliseconds(20))
    #expect(response.status == 200 && response.headers["content-type"] == "text/event-stream")
    let received = Received()
    await response.stream?.produce(received.append)
    #expect(received.text == "retry: 2000\n\nid: 9\nevent: change\ndata: 9\n\nevent: end\ndata: end\n\n")
  }

  /// The response to a live page that shows everything up to the event 8 of a customer whose last event is 9.
  private func live(time: Duration) async throws -> HTTPResponse {
    try await SignedInConsole(methods, liveTime: time).get("/a/ocean/sandbox/customers/ada/live?after=8")
  }

  private var methods: [Method] {
    [
      .serverStreaming(Calls.watch.path) {
        (_: WatchRequest, responses: ResponseWriter<WatchResponse>, _) async throws(Status) in
        await responses.begin()
        try? await Task.sleep(for: .seconds(600))
      },
      .asyncUnary(Calls.getCustomer.path) {
        (_: GetCustomerRequest, _) async throws(Status) -> GetCustomerResponse in .with { $0.sequence = 9 }
      },
    ]
  }
}

/// The text that a page has received.
private final class Received: Sendable {
  private let parts = Mutex<[String]>([])

  var text: String { parts.withLock { $0.joined() } }

  @Sendable func append(_ part: [UInt8]) async -> Bool {
    parts.withLock { $0.append(String(decoding: part, as: UTF8.self)) }
    return true
  }
}
