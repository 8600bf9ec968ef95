import Callers
import HTTP
import RPC
import Synchronization
import Testing
import Wire

@testable import Services

@Suite("Interceptor chain")
struct InterceptorChainTests {
  private let log = Log()
  private var chain: InterceptorChain<InterceptorPair<Recorder, Recorder>> {
    InterceptorChain(interceptors: interceptors(), ticks: { 0 })
  }

  @Test("Interceptors start and receive outermost first, and end innermost first")
  func order() throws {
    let reply = try #require(call(unary { _, _ in .reply(Reply([7])) }, with: interceptors()).reply)
    #expect(reply.message == [7])
    #expect(
      log.entries == [
        "outer start", "inner start", "outer receive", "inner receive", "inner end OK", "outer end OK",
      ])
  }

  @Test("A call that an interceptor rejects ends once and does not reach the handler")
  func rejection() throws {
    let method = unary { _, _ in
      log.append("handler")
      return .reply(Reply([]))
    }
    let status = try #require(call(method, with: interceptors(rejecting: "inner start")).status)
    #expect(status.code == .permissionDenied)
    #expect(!log.entries.contains("handler"))
    #expect(log.entries.suffix(2) == ["inner end PERMISSION_DENIED", "outer end PERMISSION_DENIED"])
    #expect(log.entries.count { $0.hasPrefix("outer end") } == 1)
  }

  @Test("The error of a handler reaches every interceptor and the caller")
  func handlerError() throws {
    let status = try #require(
      call(unary { _, _ in .failure(Status(.notFound)) }, with: interceptors()).status)
    #expect(status.code == .notFound)
    #expect(log.entries.suffix(2) == ["inner end NOT_FOUND", "outer end NOT_FOUND"])
  }

  @Test(
    "A call whose result comes later ends with it, once, whether it is awaited before or after",
    arguments: [true, false])
  func laterResult(isAwaitedBefore: Bool) throws {
    for result in [UnaryResult.reply(Reply([1])), .failure(Status(.notFound))] {
      let pending = PendingResult()
      let first = log.entries.count
      let returned = call(unary { _, _ in .later(pending) }, with: interceptors())
      #expect(log.entries.last == "inner receive")
      let ended = try #require(returned.pending)
      let received = Mutex<[UnaryResult]>([])
      let receive: PendingResult.Receiver = { result in received.withLock { $0.append(result) } }
      if isAwaitedBefore { ended.whenComplete(receive) }
      pending.complete(result)
      if !isAwaitedBefore { ended.whenComplete(receive) }
      let all = received.withLock { $0 }
      #expect(all.count == 1 && all.first?.reply?.message == result.reply?.message)
      #expect(all.first?.status?.code == result.status?.code)
      let ends = log.entries.dropFirst(first).filter { $0.contains(" end ") }
      #expect(ends.count == 2 && ends.first?.hasPrefix("inner end") == true)
    }
  }

  @Test("The work that a late result leaves runs before the call ends")
  func laterWork() async throws {
    let log = log
    let pending = PendingResult()
    let returned = call(unary { _, _ in .later(pending) }, with: interceptors())
    pending.complete(
      .async { () async throws(Status) in
        log.append("work")
        return Reply([2])
      })
    #expect(log.entries.last == "inner receive")
    #expect(try await returned.awaitReply().message == [2])
    #expect(log.entries.suffix(3) == ["work", "inner end OK", "outer end OK"])
  }

  @Test("An asynchronous call ends after its work, not before")
  func asynchronousCall() async throws {
    let log = log
    let method = Method(
      path: "/t.T/M",
      handler: .asyncUnary { _, _ in
        { () async throws(Status) in
          log.append("work")
          return Reply([1])
        }
      })
    let work = try #require(call(method, with: interceptors()).work)
    #expect(log.entries.last == "inner receive")
    #expect(try await work().message == [1])
    #expect(log.entries.suffix(3) == ["work", "inner end OK", "outer end OK"])
  }

  @Test(
    "A large call passes the interceptors of other threads, its limit stays, and its message is not read if it is rejected",
    arguments: [false, true])
  func largeCall(isRejected: Bool) async throws {
    let log = log
    var method = Method(
      path: "/t.T/M",
      handler: .asyncUnary { message, _ in
        log.append("handler \(message.count)")
        return { () async throws(Status) in Reply([1]) }
      })
    method.messageLimit = 20_000
    let chain = InterceptorChain(
      interceptors: interceptors(rejecting: isRejected ? "inner start" : ""), ticks: { 0 })
    let intercepted = chain.intercepting(
      method, policy, with: Recorder(name: "local", rejecting: "", log: log))
    #expect(intercepted.messageLimit == 20_000)
    let large = try #require(intercepted.large)
    do throws(Status) {
      let read = { () throws(Status) -> ArraySlice<UInt8> in
        log.append("read")
        return [UInt8](repeating: 0, count: 17_000)[...]
      }
      let reply = try await large(read, context)()
      #expect(reply.message == [1] && !isRejected)
    } catch {
      #expect(error.code == .permissionDenied && isRejected)
    }
    for step in ["read", "inner receive", "handler 17000"] {
      #expect(log.entries.contains(step) == !isRejected)
    }
    #expect(log.entries.last == (isRejected ? "outer end PERMISSION_DENIED" : "outer end OK"))
    #expect(!log.entries.contains { $0.hasPrefix("local") })
  }

  @Test(
    "The message of a rejected large call of a known caller is read only if its method is audited",
    arguments: [true, false])
  func rejectedLargeCall(mutates: Bool) throws {
    let log = log
    let inner = Recorder(name: "inner", rejecting: "inner start", log: log)
    let chain = InterceptorChain(interceptors: InterceptorPair(KnownCaller(), inner), ticks: { 0 })
    let method = Method(
      path: "/t.T/M", handler: .asyncUnary { _, _ in { () async throws(Status) in Reply([1]) } })
    let policy = MethodPolicy(path: "/t.T/M", role: .read, mutates: mutates)
    let large = try #require(chain.intercepting(method, policy, with: inner).large)
    #expect(throws: Status.self) {
      _ = try large(
        { () throws(Status) in
          log.append("read")
          return [1][...]
        }, context)
    }
    #expect(log.entries.contains("read") == mutates)
    #expect(log.entries.contains("inner receive") == mutates)
    #expect(log.entries.last == "inner end PERMISSION_DENIED")
  }

  @Test("Each message of a stream passes the interceptors, and the call ends once")
  func stream() async throws {
    let method = Method(
      path: "/t.T/M",
      handler: .streaming { messages, _ async throws(Status) in while try await messages.next() != nil {} })
    guard case .streaming(let handler) = chain.intercepting(method, policy, with: interceptors()).handler
    else { throw Status(.unimplemented) }
    try await handler(FixedMessages(3), context)
    #expect(log.entries.count { $0 == "inner receive" } == 3)
    #expect(log.entries.count { $0 == "outer end OK" } == 1)
  }

  @Test("A call over HTTP that fails after its start ends once, with the status of the failure")
  func startedCall() throws {
    let started = try chain.start(policy, context)
    #expect(started.fail(Status(.invalidArgument)).code == .invalidArgument)
    #expect(
      log.entries == [
        "outer start", "inner start", "inner end INVALID_ARGUMENT", "outer end INVALID_ARGUMENT",
      ])
  }

  @Test(
    "The request of a rejected call over HTTP is decoded only if its caller is known and its method is audited",
    arguments: [(true, "inner start"), (true, "outer start"), (false, "inner start")])
  func rejectedCall(mutates: Bool, rejecting: String) {
    let interceptors = InterceptorPair(
      Recorder(name: "outer", rejecting: rejecting, log: log),
      InterceptorPair(
        KnownCaller(),
        Recorder(name: "inner", rejecting: rejecting, log: log)))
    let policy = MethodPolicy(path: "/t.T/M", role: .read, mutates: mutates)
    #expect(throws: Status.self) {
      _ = try InterceptorChain(interceptors: interceptors, ticks: { 0 }).start(policy, context) { caller in
        log.append("read for \(caller.has(.admin))")
        return [1, 2]
      }
    }
    let isRead = mutates && rejecting == "inner start"
    #expect(log.entries.contains("read for true") == isRead)
    #expect(log.entries.contains("inner receive") == isRead)
    #expect(log.entries.last == "outer end PERMISSION_DENIED")
  }

  @Test(
    "gRPC's own retries do not wait for a delay that passes the caller's deadline",
    arguments: [(nil, 10_000, 10_000), (1_000, 499, 499), (1_000, 500, -1)] as [(Int64?, Int64, Int64)])
  func retryDelay(timeout: Int64?, delay: Int64, expected: Int64) throws {
    // Half a second passes after the start.
    let clock = Mutex<Int64>(0)
    let chain = InterceptorChain(
      interceptors: interceptors(),
      ticks: {
        clock.withLock { ticks in
          defer { ticks = 500_000_000 }
          return ticks
        }
      })
    let context = CallContext(
      headers: HeaderFields(), timeout: timeout.map { Timeout(nanoseconds: $0 * 1_000_000) })
    let failure = Status(.unavailable, reason: "LATER", "later", retryAfterMilliseconds: delay)
    let status = try chain.start(policy, context).fail(failure)
    #expect(status.pushbackMilliseconds == expected)
    #expect(status.details == failure.details)
  }

  private let policy = MethodPolicy(path: "/t.T/M", role: .read)
  private let context = CallContext(headers: HeaderFields(), timeout: nil)

  private func interceptors(rejecting: String = "") -> InterceptorPair<Recorder, Recorder> {
    InterceptorPair(
      Recorder(name: "outer", rejecting: rejecting, log: log),
      Recorder(name: "inner", rejecting: rejecting, log: log))
  }

  private func unary(_ handler: @escaping Method.UnaryHandler) -> Method {
    Method(path: "/t.T/M", handler: .unary(handler))
  }

  private func call(_ method: Method, with local: some Interceptor) -> UnaryResult {
    guard case .unary(let handler) = chain.intercepting(method, policy, with: local).handler else {
      return .failure(Status(.unimplemented))
    }
    return [UInt8]([1, 2]).withUnsafeBytes { handler($0, context) }
  }
}

extension UnaryResult {
  var reply: Reply? { if case .reply(let reply) = self { reply } else { nil } }
  var status: Status? { if case .failure(let status) = self { status } else { nil } }
  var work: UnaryWork? { if case .async(let work) = self { work } else { nil } }
  var pending: PendingResult? { if case .later(let pending) = self { pending } else { nil } }
}

/// Records the calls of its functions.
private struct Recorder: Interceptor, Sendable {
  let name: String
  /// The entry at which the interceptor throws.
  let rejecting: String
  let log: Log

  func start(_ call: inout CallInFlight) throws(Status) { try record("start") }

  func receive(_ message: UnsafeRawBufferPointer, _ call: inout CallInFlight) throws(Status) {
    try record("receive")
  }

  func end(_ call: inout CallInFlight, _ failure: Status?) {
    log.append("\(name) end \(failure.code.name)")
  }

  private func record(_ step: String) throws(Status) {
    log.append("\(name) \(step)")
    if rejecting == "\(name) \(step)" { throw Status(.permissionDenied) }
  }
}

private final class Log: Sendable {
  private let lines = Mutex<[String]>([])

  var entries: [String] { lines.withLock { $0 } }

  func append(_ entry: String) { lines.withLock { $0.append(entry) } }
}

/// A stream of a fixed number of empty messages.
private final class FixedMessages: MessageStream {
  private let remaining: Mutex<Int>

  init(_ count: Int) { remaining = Mutex(count) }

  func next() async throws(Status) -> ReceivedMessage? {
    remaining.withLock { remaining in
      guard remaining > 0 else { return nil }
      remaining -= 1
      return ReceivedMessage([])
    }
  }

  func send(_ message: [UInt8], compression: MessageCompression) async throws(Status) {}
  func attach(initial: Metadata, trailing: Metadata) async {}
}

private struct KnownCaller: Interceptor {
  func start(_ call: inout CallInFlight) throws(Status) { call.caller = .anyone }
}
