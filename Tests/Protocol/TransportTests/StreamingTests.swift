import EntitledClient
import RPC
import Synchronization
import Testing
import Transport
import Wire

typealias TestStream = ClientStream<CheckRequest, Entitlement>

/// Streaming calls over a real socket.
@Suite struct StreamingTests {
  @Test("A client-streaming call returns one response to many requests")
  func clientStreaming() async throws {
    try await serving([
      .clientStreaming("/t.T/CounterCell") {
        (requests: RequestReader<CheckRequest>, _) async throws(Status) -> Entitlement in
        var names: [String] = []
        for try await request in requests { names.append(request.customerId) }
        return .with { $0.reason = names.joined(separator: " ") }
      }
    ]) { connection in
      let answer = try await connection.withStream("/t.T/CounterCell") { (stream: TestStream) in
        for name in ["ana", "ben", "cleo"] { try await stream.send(.with { $0.customerId = name }) }
        stream.finish()
        return try await stream.next()
      }
      #expect(answer?.reason == "ana ben cleo")
    }
  }

  @Test("A bidirectional call alternates messages until the caller ends")
  func turns() async throws {
    try await serving([echo]) { connection in
      try await connection.withStream("/t.T/Echo") { (stream: TestStream) in
        for turn in 0..<200 {
          try await stream.send(.with { $0.customerId = "\(turn)" })
          #expect(try await stream.next()?.reason == "\(turn)")
        }
        stream.finish()
        let end = try await stream.next()
        #expect(end == nil)
      }
    }
  }

  @Test("A stream may be empty in both directions")
  func empty() async throws {
    try await serving([echo]) { connection in
      try await connection.withStream("/t.T/Echo") { (stream: TestStream) in
        stream.finish()
        let end = try await stream.next()
        #expect(end == nil)
      }
    }
  }

  @Test("Backpressure stops a caller whose handler does not read")
  func slowHandler() async throws {
    let (release, releaser) = AsyncStream<Void>.makeStream()
    try await serving([
      .clientStreaming("/t.T/Slow") {
        (requests: RequestReader<InspectRequest>, _) async throws(Status) -> Entitlement in
        for await _ in release { break }
        var count = 0
        for try await _ in requests { count += 1 }
        return .with { $0.reason = "\(count)" }
      }
    ]) { connection in
      try await connection.withStream("/t.T/Slow") { (stream: ClientStream<InspectRequest, Entitlement>) in
        let sent = Counter()
        let request = InspectRequest.with { $0.content = .document(String(repeating: "x", count: 32 << 10)) }
        async let sending: Void = {
          for _ in 0..<200 {
            try await stream.send(request)
            sent.increment()
          }
          stream.finish()
        }()
        try await sent.untilStable()
        #expect(sent.value < 40, "6 MB would be 200")
        releaser.yield()
        try await sending
        let answer = try await stream.next()
        #expect(answer?.reason == "200")
      }
    }
  }

  @Test("Backpressure stops a handler whose caller does not read")
  func slowCaller() async throws {
    let sent = Counter()
    let (stopped, continuation) = AsyncStream<Status>.makeStream()
    try await serving([
      .serverStreaming("/t.T/Flood") {
        (_: CheckRequest, responses: ResponseWriter<Entitlement>, _) async throws(Status) in
        let response = Entitlement.with { $0.reason = String(repeating: "x", count: 64 << 10) }
        do throws(Status) {
          while true {
            try await responses.write(response)
            sent.increment()
          }
        } catch {
          continuation.yield(error)
          throw error
        }
      }
    ]) { connection in
      try await connection.withStream("/t.T/Flood") { (stream: TestStream) in
        try await stream.send(CheckRequest())
        stream.finish()
        _ = try await stream.next()
        try await sent.untilStable()
        #expect(sent.value < 40)
      }
      for await status in stopped {
        #expect(status.code == .cancelled, "the caller left without an end")
        break
      }
    }
  }

  @Test("A response is read completely if the handler ends before its caller")
  func earlyEnd() async throws {
    try await serving([
      .bidirectional("/t.T/Early") {
        (requests: RequestReader<CheckRequest>, responses: ResponseWriter<Entitlement>, _)
          async throws(Status) in
        _ = try await requests.next()
        for _ in 0..<40 {
          try await responses.write(.with { $0.reason = String(repeating: "x", count: 64 << 10) })
        }
        throw Status(.failedPrecondition, "enough")
      }
    ]) { connection in
      try await connection.withStream("/t.T/Early") { (stream: TestStream) in
        try await stream.send(CheckRequest())
        for _ in 0..<40 { #expect(try await stream.next() != nil) }
        do {
          _ = try await stream.next()
          Issue.record("the call should have failed")
        } catch ClientError.failed(let status) {
          #expect(status == Status(.failedPrecondition, "enough"))
        }
      }
    }
  }

  @Test("A deadline ends a stream on both sides")
  func deadline() async throws {
    let (stopped, continuation) = AsyncStream<Status>.makeStream()
    try await serving([
      .bidirectional("/t.T/Wait") {
        (requests: RequestReader<CheckRequest>, _: ResponseWriter<Entitlement>, _) async throws(Status) in
        do throws(Status) {
          while try await requests.next() != nil {}
        } catch {
          continuation.yield(error)
          throw error
        }
      }
    ]) { connection in
      try await connection.withStream("/t.T/Wait", timeoutSeconds: 1) { (stream: TestStream) in
        do {
          _ = try await stream.next()
          Issue.record("the call should have failed")
        } catch ClientError.failed(let status) {
          #expect(status.code == .deadlineExceeded)
        }
      }
      for await status in stopped {
        #expect(status.code == .deadlineExceeded)
        break
      }
    }
  }

  private var echo: Method {
    .bidirectional("/t.T/Echo") {
      (requests: RequestReader<CheckRequest>, responses: ResponseWriter<Entitlement>, _)
        async throws(Status) in
      for try await request in requests {
        try await responses.write(.with { $0.reason = request.customerId })
      }
    }
  }
}

/// Counts calls on any thread.
private final class Counter: Sendable {
  private let count = Mutex(0)

  var value: Int { count.withLock { $0 } }

  func increment() { count.withLock { $0 += 1 } }

  /// Waits until the count stays unchanged for 50 ms.
  func untilStable() async throws {
    var last = -1
    while last != value {
      last = value
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}
