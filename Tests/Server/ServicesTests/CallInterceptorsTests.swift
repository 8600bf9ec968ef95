import AppStore
import Callers
import HTTP
import RPC
import Synchronization
import Telemetry
import Testing
import Wire

@testable import Services

/// The policy that the server uses, with callers of a directory.
@Suite("Call interceptors")
struct CallInterceptorsTests {
  private let records = Records()
  private let spans = Spans()
  private let policy: CallPolicy

  init() throws {
    let callers = try [
      caller("reader", [.read]), caller("operator", [.operate]),
      caller("limited", [.read], apps: ["ocean"]),
      caller("slow", [.read], rateLimit: RateLimit(perSecond: 1, burst: 2)),
    ]
    let (records, spans) = (records, spans)
    policy = CallPolicy(
      callers: CurrentCallers(.listed(CallerDirectory(callers))),
      now: { Instant(millisecondsSince1970: 1_800_000_000_000) }, ticks: { 1 },
      audit: { records.append($0) },
      tracer: RecordingTracer(sampler: TraceSampler(ratio: 0, followsParent: true)) { spans.append($0) })
  }

  @Test("A call without a credential is rejected, counted once, and not audited if it changes nothing")
  func unauthenticated() {
    #expect(check(as: nil) == .unauthenticated)
    #expect(count(Self.check, "UNAUTHENTICATED") == 1)
    #expect(records.all.isEmpty)
  }

  @Test("A successful query reaches the handler with the name of the caller, is counted once and not audited")
  func query() {
    #expect(check(as: "reader") == .ok)
    #expect(count(Self.check, "OK") == 1)
    #expect(records.all.isEmpty)
  }

  @Test("A caller without the role is rejected")
  func missingRole() {
    #expect(check(as: "operator") == .permissionDenied)
    #expect(count(Self.check, "PERMISSION_DENIED") == 1)
  }

  @Test("A caller that is limited to an app is rejected if the request names another one, or none")
  func apps() {
    #expect(check(as: "limited", app: "ocean") == .ok)
    #expect(check(as: "limited", app: "sea") == .permissionDenied)
    #expect(check(as: "limited", app: "") == .permissionDenied)
  }

  @Test("Each call takes one token of the caller's rate limit, on an event loop and elsewhere")
  func rateLimit() throws {
    #expect(check(as: "slow") == .ok)
    _ = try policy.chain.start(MethodPolicy.of(Self.check), context("slow"))
    #expect(check(as: "slow") == .resourceExhausted)
  }

  @Test("One of several replicas allows its part of the caller's rate limit")
  func dividedRateLimit() {
    policy.replicas.value = 2
    #expect(check(as: "slow") == .ok)
    #expect(check(as: "slow") == .resourceExhausted)
  }

  @Test("The audit record of a rejected change names the apps, customers and actor of its request")
  func auditOfRejection() throws {
    let request = GrantRequest.with {
      $0.app = "ocean"
      $0.customerId = "ana"
      $0.actor = "sam"
    }
    #expect(run(Self.grant, request.encodedBytes(), as: "reader").code == .permissionDenied)
    let record = try #require(records.all.first)
    #expect(records.all.count == 1)
    #expect(record.method == Self.grant && record.caller == "reader" && record.mutates)
    #expect(record.apps == ["ocean"] && record.customers == ["ana"] && record.actor == "sam")
    #expect(record.outcome == "PERMISSION_DENIED")
  }

  @Test("The audit record of a rejected change has as many texts as an entry, each within its limit")
  func auditOfLongTexts() throws {
    var request = GrantRequest.with {
      $0.app = String(repeating: "a", count: 100_000)
      $0.actor = String(repeating: "s", count: 100_000)
    }.encodedBytes()
    for number in 0..<1_000 { request += GrantRequest.with { $0.customerId = "c\(number)" }.encodedBytes() }
    #expect(run(Self.grant, request, as: "reader").code == .permissionDenied)
    let record = try #require(records.all.first)
    #expect(record.apps == [String(repeating: "a", count: 256)])
    #expect(record.actor == String(repeating: "s", count: 256))
    #expect(record.customers.count == 100 && record.customers.last == "c999")
  }

  @Test(
    "Changes without a credential are audited up to a limit of their network, without the subjects of long requests"
  )
  func auditOfUnauthenticatedPeers() {
    let request = GrantRequest.with { $0.customerId = "ana" }.encodedBytes()
    let network = PeerNetwork(address: "192.0.2.1")
    for _ in 0..<700 { #expect(run(Self.grant, request, as: nil, from: network).code == .unauthenticated) }
    #expect(records.all.count == 600)
    #expect(records.all.allSatisfy { $0.customers == ["ana"] && $0.outcome == "UNAUTHENTICATED" })
    #expect(count(Self.grant, "UNAUTHENTICATED") == 700)
    let long = request + GrantRequest.with { $0.note = String(repeating: "n", count: 20_000) }.encodedBytes()
    _ = run(Self.grant, long, as: nil, from: PeerNetwork(address: "192.0.2.2"))
    #expect(records.all.count == 601 && records.all.last?.customers == [])
    #expect(run(Self.grant, request, as: "reader", from: network).code == .permissionDenied)
    #expect(records.all.count == 602)
  }

  @Test("A change is audited once, after its work, under the request id that its caller receives")
  func auditOfChange() async throws {
    let method = Method(
      path: Self.grant, handler: .asyncUnary { _, _ in { () async throws(Status) in Reply([]) } })
    let work = try #require(result(method, [], as: "operator").work)
    #expect(records.all.isEmpty)
    let reply = try await work()
    #expect(records.all.map(\.outcome) == ["OK"])
    #expect(reply.trailingMetadata["x-request-id"] == records.all.first?.trace.requestID)
    #expect(count(Self.grant, "OK") == 1)
  }

  @Test("A query that fails because of the service is audited")
  func auditOfFailure() {
    let status = run(Self.check, [], as: "reader") { _, _ in .failure(Status(.unavailable, "disk full")) }
    #expect(status.code == .unavailable)
    #expect(records.all.map(\.error) == ["disk full"])
    #expect(status.requestID == records.all.first?.trace.requestID)
  }

  @Test("The end of a stream whose connection is to end is not counted as a failure")
  func plannedEnd() throws {
    let watch = "/entitled.v1.EntitlementService/Watch"
    var context = context("reader")
    let retirement = CallRetirement()
    context.retirement = retirement
    let ended = Status(.unavailable, "the server ends this stream")
    #expect(try policy.chain.start(MethodPolicy.of(watch), context).fail(ended).code == .unavailable)
    #expect((count(watch, "OK"), count(watch, "UNAVAILABLE")) == (0, 1))
    retirement.begin()
    #expect(try policy.chain.start(MethodPolicy.of(watch), context).fail(ended).code == .unavailable)
    #expect((count(watch, "OK"), count(watch, "UNAVAILABLE")) == (1, 1))
  }

  @Test(
    "A scrape of the metrics is a call that ends once, whether it is permitted or not",
    arguments: [("reader", 200), ("operator", 403)])
  func scrape(name: String, status: Int) {
    let endpoint = MetricsEndpoint(registry: MetricsRegistry(families: []), chain: policy.chain)
    let response = endpoint.respond(
      to: HTTPRequest(
        method: "GET", target: "/metrics",
        headers: HeaderFields([
          ("authorization", "Bearer \(token(name))"),
          ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ]), body: []))
    #expect(response.status == status)
    #expect(spans.all.map(\.name) == ["GET /metrics"])
  }

  @Test("Health is open to every caller")
  func health() {
    #expect(run("/grpc.health.v1.Health/Check", [], as: nil).code == .ok)
  }

  private static let check = "/entitled.v1.EntitlementService/Check"
  private static let grant = "/entitled.v1.EntitlementService/Grant"

  private func check(as name: String?, app: String = "ocean") -> StatusCode {
    run(Self.check, CheckRequest.with { $0.app = app }.encodedBytes(), as: name).code
  }

  private func context(_ name: String?, _ network: PeerNetwork? = nil) -> CallContext {
    let headers = name.map { [("authorization", "Bearer \(token($0))")] } ?? []
    var context = CallContext(headers: HeaderFields(headers), timeout: nil)
    context.network = network
    return context
  }

  private func result(
    _ method: Method, _ request: [UInt8], as name: String?, from network: PeerNetwork? = nil
  ) -> UnaryResult {
    let intercepted = policy.chain.intercepting(
      method, MethodPolicy.of(method.path), with: policy.eventLoopInterceptors())
    guard case .unary(let handler) = intercepted.handler else { return .failure(Status(.unimplemented)) }
    return request.withUnsafeBytes { handler($0, context(name, network)) }
  }

  private func run(
    _ path: String, _ request: [UInt8], as name: String?, from network: PeerNetwork? = nil,
    _ handler: @escaping Method.UnaryHandler = { _, _ in .reply(Reply([])) }
  ) -> Status {
    let checked: Method.UnaryHandler = { bytes, context in
      #expect(context.caller == name ?? "")
      return handler(bytes, context)
    }
    switch result(Method(path: path, handler: .unary(checked)), request, as: name, from: network) {
    case .reply: return .ok
    case .failure(let status): return status
    case .async, .later: return Status(.unknown)
    }
  }

  /// The number of counted calls of a method with a status code.
  private func count(_ method: String, _ code: String) -> Double {
    let sample = policy.metrics.samples().first { sample in
      sample.family == "entitled_grpc_calls_total"
        && sample.labels.contains { $0.value == method } && sample.labels.contains { $0.value == code }
    }
    guard case .number(let number)? = sample?.value else { return 0 }
    return number
  }
}

private func token(_ name: String) -> String { "ent_\(name)_0123456789abcdef0123456789abcdef" }

private func caller(
  _ name: String, _ roles: Set<Role>, apps: Set<String>? = nil, rateLimit: RateLimit? = nil
) throws -> CallerDefinition {
  CallerDefinition(
    name: name, roles: roles, apps: apps, rateLimit: rateLimit,
    tokens: [TokenHash(of: token(name).utf8)])
}

private final class Spans: Sendable {
  private let records = Mutex<[SpanRecord]>([])

  var all: [SpanRecord] { records.withLock { $0 } }

  func append(_ record: SpanRecord) { records.withLock { $0.append(record) } }
}

private final class Records: Sendable {
  private let records = Mutex<[AuditRecord]>([])

  var all: [AuditRecord] { records.withLock { $0 } }

  func append(_ record: AuditRecord) { records.withLock { $0.append(record) } }
}
