import RPC
import Testing
import Wire

@Suite struct HealthServiceTests {
  @Test("A server starts as NOT_SERVING and reports the status set for each service")
  func statuses() {
    let health = HealthService(services: ["a.A", "b.B"])
    #expect(health.status(of: "") == .notServing)
    health.setAll(.serving)
    health.set(.notServing, for: "b.B")
    #expect(health.status(of: "") == .serving)
    #expect(health.status(of: "a.A") == .serving)
    #expect(health.status(of: "b.B") == .notServing)
    #expect(health.status(of: "c.C") == nil)
  }

  @Test("Watch sends the current status and each change, and ends with its task")
  func watch() async throws {
    let health = HealthService(services: ["a.A"])
    let stream = RecordingStream(
      request: GRPCHealth.HealthCheckRequest.with { $0.service = "a.A" }.encodedBytes())
    guard
      case .streaming(let handler)? = health.methods.first(where: { $0.path.hasSuffix("/Watch") })?.handler
    else { return #expect(Bool(false), "there is no Watch") }
    let watching = Task { try await handler(stream, CallContext(headers: .init(), timeout: nil)) }
    var sent = stream.sent.makeAsyncIterator()
    #expect(try status(await sent.next()) == .notServing)
    health.set(.serving, for: "a.A")
    #expect(try status(await sent.next()) == .serving)
    watching.cancel()
    await #expect(throws: Status.self) { try await watching.value }
  }

  @Test("A shutdown ends Watch streams after their last status")
  func end() async throws {
    let health = HealthService(services: [])
    let stream = RecordingStream(request: GRPCHealth.HealthCheckRequest().encodedBytes())
    guard
      case .streaming(let handler)? = health.methods.first(where: { $0.path.hasSuffix("/Watch") })?.handler
    else { return #expect(Bool(false), "there is no Watch") }
    health.endWatches()
    do {
      try await handler(stream, CallContext(headers: .init(), timeout: nil))
      Issue.record("it should have failed")
    } catch {
      #expect(error.code == .unavailable)
    }
    var sent = stream.sent.makeAsyncIterator()
    #expect(try status(await sent.next()) == .notServing)
  }

  private func status(_ bytes: [UInt8]?) throws -> HealthService.ServingStatus {
    try GRPCHealth.HealthCheckResponse.decode(try #require(bytes)).status
  }
}

/// A streaming call with one request whose responses a test awaits.
struct RecordingStream: MessageStream {
  let sent: AsyncStream<[UInt8]>
  private let continuation: AsyncStream<[UInt8]>.Continuation
  private let requests: AsyncStream<[UInt8]>

  init(request: [UInt8]) {
    (sent, continuation) = AsyncStream.makeStream()
    requests = AsyncStream {
      $0.yield(request)
      $0.finish()
    }
  }

  func next() async throws(Status) -> ReceivedMessage? {
    for await request in requests { return ReceivedMessage(request) }
    return nil
  }

  func send(_ message: [UInt8], compression: MessageCompression) async throws(Status) {
    continuation.yield(message)
  }

  func attach(initial: Metadata, trailing: Metadata) async {}
}
