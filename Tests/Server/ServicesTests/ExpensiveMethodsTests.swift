import AppStore
import Foundation
import HTTP
import RPC
import SQLiteStore
import Store
import Synchronization
import Testing
import Wire

@testable import Services

@Suite("Methods that are expensive calls")
struct ExpensiveMethodsTests {
  /// The methods whose cost grows with a customer's history or the number of customers.
  enum Expensive: String, CaseIterable {
    case explain = "Explain"
    case listTimeline = "ListTimeline"
    case getProbableFamily = "GetProbableFamily"
    case compareNotificationVersions = "CompareNotificationVersions"
    case queryReport = "QueryReport"
    case exportReport = "ExportReport"
    case largeBatch = "BatchCheck"
  }

  @Test(
    "An expensive call fails with RESOURCE_EXHAUSTED while its caller has no place, and runs otherwise",
    arguments: Expensive.allCases)
  func expensive(method: Expensive) async throws {
    try await withContext { context in
      try await run(method, context)
      let places = occupied(context.expensiveCalls)
      let status = await failure { () async throws(Status) in try await run(method, context) }
      #expect(status?.code == .resourceExhausted && status?.errorInfo?.reason == "TOO_MANY_EXPENSIVE_CALLS")
      withExtendedLifetime(places) {}
    }
  }

  @Test("Checks are answered while their caller has no place for expensive calls")
  func cheap() async throws {
    try await withContext { context in
      let places = occupied(context.expensiveCalls)
      try await run("Check", Self.check.encodedBytes(), context)
      try await run("BatchCheck", Self.batch(of: 64).encodedBytes(), context)
      withExtendedLifetime(places) {}
    }
  }

  /// Calls a method about a customer without purchases.
  private func run(_ method: Expensive, _ context: ServiceContext) async throws(Status) {
    let entitlements = EntitlementServiceHandler(context)
    let reports = ReportServiceHandler(context: context)
    let (app, customer) = (WatchFixture.ocean.id, Self.check.customerId)
    switch method {
    case .explain:
      _ = try await entitlements.explain(
        .with { ($0.app, $0.customerId, $0.entitlement) = (app, customer, "pro") }, call)
    case .listTimeline:
      _ = try await entitlements.listTimeline(.with { ($0.app, $0.customerId) = (app, customer) }, call)
    case .getProbableFamily:
      _ = try await entitlements.getProbableFamily(.with { ($0.app, $0.customerId) = (app, customer) }, call)
    case .compareNotificationVersions:
      let notifications = NotificationServiceHandler(
        context, appStore: AppStoreServiceHandler(context: context))
      _ = try await notifications.compareNotificationVersions(.with { $0.app = app }, call)
    case .queryReport:
      _ = try await reports.queryReport(.with { ($0.app, $0.query) = (app, Self.report) }, call)
    case .exportReport:
      let method = Method.serverStreaming("/t.T/Export", reports.exportReport)
      guard case .streaming(let handler) = method.handler else { return }
      try await handler(ExportCaller(.with { ($0.app, $0.query) = (app, Self.report) }), call)
    case .largeBatch:
      try await run("BatchCheck", Self.batch(of: 65).encodedBytes(), context)
    }
  }

  /// Calls a method of an event loop.
  private func run(_ method: String, _ request: [UInt8], _ context: ServiceContext) async throws(Status) {
    let check = context.makeCheckHandler(MissingReaders(), cacheBytes: 1 << 20).check
    let path = "/entitled.v1.EntitlementService/\(method)"
    guard case .unary(let handler)? = MethodTable(check.loopMethods).method(path)?.handler else {
      throw Status(.unimplemented)
    }
    let result = request.withUnsafeBytes { handler($0, call) }
    check.endTick()
    _ = try await result.awaitReply()
  }

  private static let check = CheckRequest.with {
    ($0.app, $0.customerId, $0.entitlement) = (WatchFixture.ocean.id, "ana", "pro")
  }

  private static func batch(of count: Int) -> BatchCheckRequest {
    .with { $0.checks = Array(repeating: check, count: count) }
  }

  private static let report = ReportQuery.with {
    let day: Int64 = 86_400_000
    $0.report = "movements"
    $0.startTime = GoogleProtobuf.Timestamp(Instant(millisecondsSince1970: 20_000 * day))
    $0.endTime = GoogleProtobuf.Timestamp(Instant(millisecondsSince1970: 20_030 * day))
  }

  /// A call whose deadline no busy machine reaches.
  private var call: CallContext {
    CallContext(headers: HeaderFields(), timeout: Timeout(nanoseconds: 600_000_000_000))
  }

  /// Takes all places of the caller.
  private func occupied(_ calls: ExpensiveCalls) -> [ExpensiveCalls.Reservation] {
    var places: [ExpensiveCalls.Reservation] = []
    while let place = try? calls.reserve(call) { places.append(place) }
    return places
  }

  private func failure(_ body: () async throws(Status) -> Void) async -> Status? {
    do throws(Status) {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  private func withContext(_ body: (ServiceContext) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "expensive-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try SQLiteEntitlementStore(directory: directory.path)
    try await body(try ServiceContext.idle(over: store, folder: directory.path))
    await store.close()
  }
}

/// A caller that sends one request and ignores the responses.
private final class ExportCaller: MessageStream {
  private let request: ExportReportRequest
  private let hasRequested = Atomic(false)

  init(_ request: ExportReportRequest) { self.request = request }

  func next() async throws(Status) -> ReceivedMessage? {
    hasRequested.exchange(true, ordering: .relaxed) ? nil : ReceivedMessage(request.encodedBytes())
  }

  func attach(initial: Metadata, trailing: Metadata) async {}

  func send(_ message: [UInt8], compression: MessageCompression) async throws(Status) {}
}
