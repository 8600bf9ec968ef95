import AppStore
import Callers
import HTTP
import RPC
import Store
import Synchronization
import Testing
import Wire

@testable import Services

/// Calls that write, in a replica that is not the leader.
@Suite struct ForwardingTests {
  private static let grant = "/entitled.v1.EntitlementService/Grant"
  private static let listGrants = "/entitled.v1.EntitlementService/ListGrants"

  private let replication = FakeReplication()

  /// A forwarder, and a method that answers with its own path.
  private func method(
    _ path: String, _ leadership: Leadership? = nil, fails failure: Status? = nil
  ) throws -> (Method, Executions) {
    let forwarder = try #require(CallForwarder(leadership ?? Leadership(replication)))
    let executions = Executions()
    let method = Method.asyncUnary(path) { (request: GrantRequest, _: CallContext) async throws(Status) in
      executions.add()
      if let failure { throw failure }
      return GrantResponse.with { $0.position = "local" }
    }
    return (forwarder.forwarding(method), executions)
  }

  private func call(_ method: Method, _ request: GrantRequest = .init()) async throws(Status) -> GrantResponse
  {
    guard case .asyncUnary(let handler) = method.handler else { throw Status(.internalError) }
    var call = CallContext(
      headers: HeaderFields([
        ("authorization", "Bearer secret"), ("cookie", "session=secret"), ("x-proxy-token", "secret"),
        ("entitled-at-least", "1"), ("entitled-at-least", "2"),
      ]),
      timeout: Timeout(nanoseconds: 60_000_000_000))
    call.caller = "billing"
    let work = try request.encodedBytes().withUnsafeBufferPointer { bytes throws(Status) in
      try handler(UnsafeRawBufferPointer(bytes), call)
    }
    let scope = CallScope(caller: Caller(name: "billing", roles: [.operate], apps: ["ocean"]))
    let result: Result<Reply, Status> = await CallScope.$current.withValue(scope) {
      do throws(Status) { return .success(try await work()) } catch { return .failure(error) }
    }
    do { return try GrantResponse.decode(result.get().message) } catch let error as Status {
      throw error
    } catch {
      throw Status(.internalError)
    }
  }

  @Test("A process that has the store for itself forwards nothing")
  func alone() {
    #expect(CallForwarder(Leadership(nil)) == nil)
    #expect(Leadership(nil).executesWrites)
  }

  @Test("A follower hands a call that writes to the leader, with the caller and no metadata but the position")
  func forwarded() async throws {
    let (method, executions) = try method(Self.grant)
    replication.fake.answer = .reply(
      Reply(GrantResponse.with { $0.position = "remote" }.encodedBytes()), shown: ["ana"], subject: "s")
    let response = try await call(method, .with { $0.app = "ocean" })
    #expect(response.position == "remote" && executions.count == 0)
    let entry = try #require(replication.fake.entries.first)
    #expect(entry.kind == .call && entry.method == Self.grant && entry.appID == "ocean")
    let context = try #require(ForwardedContext(decoding: entry.context))
    #expect(context.caller?.name == "billing" && context.caller?.apps == ["ocean"])
    #expect(context.caller?.roles == [.operate])
    #expect(context.call.headers == HeaderFields([("entitled-at-least", "1"), ("entitled-at-least", "2")]))
    #expect(context.call.requiresPosition)
    #expect(context.timeout == Timeout(nanoseconds: 60_000_000_000))
  }

  @Test("The inbox has no cookie, token or query of a request")
  func requestFields() throws {
    var arrived = HTTPRequest(
      method: "POST", target: "/verifyReceipt?key=secret",
      headers: HeaderFields([
        ("content-type", "application/json"), ("cookie", "session=secret"), ("x-proxy-token", "secret"),
      ]), body: [1])
    arrived.address = "192.0.2.1"
    let encoded = ForwardedContext(arrived).encoded
    #expect(!String(decoding: encoded, as: UTF8.self).contains("secret"))
    let request = try #require(ForwardedContext(decoding: encoded)).request("/verifyReceipt", [1])
    #expect(request.method == "POST" && request.path == "/verifyReceipt" && request.body == [1])
    #expect(request.mediaType == "application/json" && request.address == "192.0.2.1")
  }

  @Test("An error of the leader reaches the caller with its details")
  func error() async throws {
    let (method, _) = try method(Self.grant)
    let status = Status(
      .notFound, reason: "UNKNOWN_APP", "unknown", metadata: [("app", "x")], retryAfterMilliseconds: 20)
    replication.fake.answer = .failure(status)
    await #expect(throws: status) { try await call(method) }
  }

  @Test("A follower answers a call without side effects itself")
  func queries() async throws {
    let (method, executions) = try method(Self.listGrants)
    #expect(try await call(method).position == "local" && executions.count == 1)
    #expect(replication.fake.entries.isEmpty)
  }

  @Test(
    "A follower leaves all calls to Apple to the leader, whose rate limits count them",
    arguments: [
      "AppStoreService/GetMassExtensionStatus", "AppStoreService/GetSeatInfo",
      "AppStoreService/GetCustomerGroups", "AppStoreService/ListGroupMembers",
      "AppStoreService/GetExternalPurchaseReport", "NotificationService/GetTestNotificationStatus",
      "RetentionMessagingService/GetRetentionImages", "RetentionMessagingService/GetRetentionUrl",
    ])
  func callsOfApple(name: String) async throws {
    let (method, executions) = try method("/entitled.v1.\(name)")
    replication.fake.answer = .reply(
      Reply(GrantResponse.with { $0.position = "remote" }.encodedBytes()), shown: [], subject: "")
    #expect(try await call(method).position == "remote" && executions.count == 0)
    #expect(replication.fake.entries.map(\.method) == ["/entitled.v1.\(name)"])
  }

  @Test("A malformed request goes no further")
  func malformed() throws {
    let (method, _) = try method(Self.grant)
    guard case .asyncUnary(let handler) = method.handler else { return }
    #expect(throws: Status.self) {
      try [UInt8]([0xff]).withUnsafeBufferPointer { bytes throws(Status) in
        _ = try handler(UnsafeRawBufferPointer(bytes), CallContext(headers: HeaderFields(), timeout: nil))
      }
    }
    #expect(replication.fake.entries.isEmpty)
  }

  @Test("A leader executes calls once it is prepared, and forwards them after another replica took over")
  func leader() async throws {
    let leadership = Leadership(replication)
    let (method, executions) = try method(Self.grant, leadership)
    let replaced = Status(StoreError.anotherWriter)
    let (refused, _) = try self.method(Self.grant, leadership, fails: replaced)
    replication.set(.leader(epoch: 1))
    #expect(!leadership.executesWrites)
    let (leads, lead) = AsyncStream.makeStream(of: Bool.self)
    let running = Task {
      await leadership.run {
      } lead: {
        lead.yield(true)
        while !Task.isCancelled { await Task.yield() }
        lead.yield(false)
      }
    }
    var states = leads.makeAsyncIterator()
    #expect(await states.next() == true)
    #expect(leadership.executesWrites && leadership.epoch == 1)
    #expect(try await call(method).position == "local" && executions.count == 1)
    // The store's error is the caller's as long as this replica leads.
    await #expect(throws: replaced) { try await call(refused) }
    replication.set(.follower)
    #expect(await states.next() == false)
    replication.fake.answer = .reply(Reply([]), shown: [], subject: "")
    #expect(try await call(refused) == GrantResponse())
    #expect(replication.fake.entries.count == 1)
    running.cancel()
    await running.value
  }

  @Test(
    "A leader that is replaced during a call hands the call over, unless it may have had an effect",
    arguments: [
      (StoreError.anotherWriter, true), (.notTheLeader, true), (.unavailable("interrupted"), true),
      (.diskFull, true), (.outcomeUnknown("lost"), false), (.failed("broken"), false),
    ])
  func replacedDuringCall(error: StoreError, isHandedOver: Bool) async throws {
    let leadership = Leadership(replication)
    let forwarder = try #require(CallForwarder(leadership))
    let method = forwarder.forwarding(
      .asyncUnary(Self.grant) {
        [replication] (_: GrantRequest, _: CallContext) async throws(Status) -> GrantResponse in
        replication.set(.follower)
        throw Status(error)
      })
    replication.set(.leader(epoch: 1))
    let (prepared, prepare) = AsyncStream.makeStream(of: Void.self)
    let running = Task {
      await leadership.run {
      } lead: {
        prepare.finish()
        while !Task.isCancelled { await Task.yield() }
      }
    }
    for await _ in prepared {}
    replication.fake.answer = .reply(Reply([]), shown: [], subject: "")
    if isHandedOver {
      #expect(try await call(method) == GrantResponse())
    } else {
      await #expect(throws: Status(error)) { try await call(method) }
    }
    #expect(replication.fake.entries.count == (isHandedOver ? 1 : 0))
    running.cancel()
    await running.value
  }

  @Test("A leader that loses and takes the lease at once executes no call before it has prepared again")
  func regained() async throws {
    let leadership = Leadership(replication)
    replication.set(.leader(epoch: 1))
    let (leads, lead) = AsyncStream.makeStream(of: Void.self)
    let (releases, release) = AsyncStream.makeStream(of: Void.self)
    let running = Task {
      await leadership.run {
        for await _ in releases { break }
      } lead: {
        lead.yield()
        while !Task.isCancelled { await Task.yield() }
      }
    }
    var terms = leads.makeAsyncIterator()
    release.yield()
    _ = await terms.next()
    #expect(leadership.executesWrites)
    replication.set(.follower)
    replication.set(.leader(epoch: 2))
    #expect(!leadership.executesWrites)
    release.yield()
    _ = await terms.next()
    #expect(leadership.executesWrites)
    running.cancel()
    await running.value
  }

  @Test("Preparation is repeated until it succeeds")
  func preparation() async throws {
    let leadership = Leadership(replication)
    replication.set(.leader(epoch: 1))
    let attempts = Executions()
    let (leads, lead) = AsyncStream.makeStream(of: Void.self)
    let running = Task {
      await leadership.run {
        attempts.add()
        if attempts.count < 3 { throw StoreError.diskFull }
      } lead: {
        lead.yield()
      }
    }
    for await _ in leads { break }
    #expect(attempts.count == 3)
    running.cancel()
    await running.value
  }

  @Test("Outcomes keep replies, errors and HTTP responses")
  func outcomes() throws {
    var reply = Reply([0, 255])
    reply.trailingMetadata = HeaderFields([("a", "b"), ("c-bin", "AAE")])
    guard
      case .reply(let decoded, let shown, "evidence 1") = try #require(
        ForwardedOutcome(
          decoding: ForwardedOutcome.reply(reply, shown: ["x"], subject: "evidence 1").encoded))
    else { return #expect(Bool(false), "not a reply") }
    #expect(decoded.message == [0, 255] && decoded.trailingMetadata == reply.trailingMetadata)
    #expect(shown == ["x"])
    let response = HTTPResponse(status: 429, headers: HeaderFields([("retry-after", "2")]), body: [1])
    guard
      case .response(let back) = try #require(
        ForwardedOutcome(decoding: ForwardedOutcome.response(response).encoded))
    else { return #expect(Bool(false), "not a response") }
    #expect(back.status == 429 && back.headers == response.headers && back.body == [1])
    #expect(ForwardedOutcome(decoding: [1, 2]) == nil && ForwardedContext(decoding: [1]) == nil)
  }

  @Test("Only the replica that waits can read an outcome, and each has another key")
  func sealedOutcomes() async throws {
    let key = OutcomeKey()
    let sealed = key.seal(.response(HTTPResponse(status: 200, body: Array("ana".utf8))))
    guard case .response(let response)? = key.open(sealed) else {
      return #expect(Bool(false), "not a response")
    }
    #expect(response.body == Array("ana".utf8))
    #expect(OutcomeKey().open(sealed) == nil && ForwardedOutcome(decoding: sealed) == nil)
    #expect(key.open(Array(sealed.dropLast())) == nil && key.open([1]) == nil)
    // A leader that cannot read the context has no key.
    guard case .done? = key.open(ForwardedOutcome.done.encoded) else {
      return #expect(Bool(false), "not done")
    }
    let (method, _) = try method(Self.grant)
    replication.fake.answer = .reply(Reply([]), shown: [], subject: "")
    for _ in 0..<2 { _ = try await call(method) }
    let keys = replication.fake.entries.compactMap { ForwardedContext(decoding: $0.context)?.outcomeKey }
    #expect(Set(keys).count == 2)
  }

  @Test("Audit entries survive the inbox, also those about many customers", arguments: [1, 12])
  func auditEntries(count: Int) throws {
    let entry = Store.AuditEntry(
      at: Instant(millisecondsSince1970: 7), caller: "c", actor: "a", method: "m", appID: "ocean",
      customerIDs: ["x", String(repeating: "y", count: 1_000_000)], subject: "s", note: "n", outcome: "OK",
      requestID: "r", address: "::1", asOf: count == 1 ? nil : Instant(millisecondsSince1970: 3),
      knownAt: Instant(millisecondsSince1970: 5))
    let entries = Array(repeating: entry, count: count)
    #expect([Store.AuditEntry](decoding: entries.encoded) == entries)
  }
}

private final class Executions: Sendable {
  private let counted = Mutex(0)
  var count: Int { counted.withLock { $0 } }
  func add() { counted.withLock { $0 += 1 } }
}
