import AppStore
import AppleLookup
import Entitlements
import Foundation
import HTTP
import JSON
import Ledger
import Logging
import Platform
import SQLiteStore
import SignedData
import Store
import Synchronization

@testable import AppStoreClient
@testable import Notifications
@testable import Reconciliation
@testable import Sandbox

/// A service that hears of a lived world: a store, a ledger, an inbox, and a line to Apple without a network.
struct Recipient {
  private static let place = AppEnvironment(appID: "demo", environment: .sandbox)

  let store: SQLiteEntitlementStore
  let ledger: EvidenceLedger
  let inbox: NotificationInbox
  let lookup: PurchaseLookup
  private let reconciler: Reconciler
  private let polling: StatusPolling
  private let app: AppDefinition
  private let clock: SandboxClock

  init(_ world: LivedWorld) throws {
    let clock = world.simulator.clock
    let app = AppDefinition(
      id: "demo", identity: LivedWorld.app.identity, environments: [.sandbox],
      products: ["monthly", "gold", "weekly"].map { id in
        ProductDefinition(
          productID: id, type: .autoRenewableSubscription,
          subscriptionGroup: id == "weekly" ? "news" : "pro", level: id == "gold" ? 1 : 2,
          entitlements: [id == "weekly" ? "news" : "pro"])
      })
    self.app = app
    self.clock = clock
    store = try SQLiteEntitlementStore(directory: world.folder.appending(path: "\(UUID())").path)
    let catalog = CurrentCatalog(Catalog([app]))
    let verifier = try SignedDataVerifier(
      anchors: .apple().adding(world.simulator.root, for: .sandbox))
    ledger = EvidenceLedger(store: store, verifier: verifier, catalog: catalog, now: { clock.now() })
    var clients = AppStoreClients()
    clients["demo", .sandbox] = try Self.client(world.simulator)
    lookup = PurchaseLookup(clients: clients, ledger: ledger)
    let cadence = DeliveryCadence()
    inbox = NotificationInbox(
      ledger: ledger, lookup: lookup, catalog: catalog,
      secrets: ["demo": SharedSecret(LivedWorld.secret)].compactMapValues(\.self),
      recordArrival: { cadence.recordArrival($0, at: $1) })
    reconciler = Reconciler(
      store: store, ledger: ledger, inbox: inbox, lookup: lookup, catalog: catalog, cadence: cadence,
      policies: ["demo": ReconciliationPolicy(pollsStatuses: false, repairsGaps: false)],
      clock: ServiceClock(now: { clock.now() }))
    polling = StatusPolling(
      store: store, ledger: ledger, lookup: lookup, app: app, place: Self.place,
      metrics: ReconciliationMetrics(Self.place), now: { clock.now() })
  }

  private static func client(_ simulator: AppStoreSimulator) throws -> AppStoreServerClient {
    let credentials = AppStoreCredentials(
      issuerID: "issuer", bundleID: "com.example", signer: try JWTSigner(key: .generate(.p256), keyID: "KEY1")
    )
    let waited = WaitedTime()
    let clock = simulator.clock
    return AppStoreServerClient(
      app: LivedWorld.app.identity, environment: .sandbox, server: AppStoreServer(baseURL: "http://sandbox"),
      tokens: ServerAPITokenSource(credentials: credentials, now: { clock.now() }),
      exchange: SimulatorExchange(simulator: simulator),
      clock: ClientClock(
        now: { clock.now() }, uptime: { waited.sum }, sleep: { waited.add($0) }, random: { 0.5 }))
  }

  // MARK: What arrives

  /// The app hands in what was bought.
  func submit(_ submissions: [(customer: String, transaction: String)]) async throws {
    for submission in submissions {
      _ = try await ledger.submit(
        Submission(
          appID: "demo", customerID: submission.customer, signedTransaction: submission.transaction))
    }
  }

  /// Notifications arrive, several at a time.
  func deliver(_ bodies: [[UInt8]], atATime width: Int = 16) async throws {
    for start in stride(from: 0, to: bodies.count, by: width) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for body in bodies[start..<min(start + width, bodies.count)] {
          group.addTask {
            _ = try await inbox.ingest(
              IncomingNotification(
                appID: "demo", body: body, source: .notification, receivedAt: clock.now()))
          }
        }
        try await group.waitForAll()
      }
    }
  }

  /// Asks about all periods that ended.
  func poll() async throws { try await polling.run() }

  /// Fills the gap from Apple's history.
  func repair() async throws -> Repair {
    let running = Task { [workers = reconciler.workers] in
      await WorkerSupervisor(logger: Logger(label: "test")).run(workers)
    }
    defer { running.cancel() }
    return try await reconciler.repair(
      Repair(
        appID: "demo", environment: .sandbox, reason: .manual, from: LivedWorld.start, to: clock.now(),
        startedAt: clock.now()), timeout: nil
    ).0
  }

  /// Asks Apple about every purchase of the world.
  func fullPollInterval(_ world: LivedWorld) async throws {
    for line in await world.simulator.world.lines.keys.sorted() {
      _ = try await lookup.fetchAll(
        PurchaseLookup.Request(appID: "demo", environment: .sandbox, transactionID: String(line)))
    }
  }

  // MARK: What is held true

  /// What is answered about every customer, now, in the past and in the time to come: one line each.
  func state() throws -> [String] {
    let reader = try store.makeReader()
    defer { reader.endTurn() }
    let records = try reader.customers(of: "demo", in: .sandbox, after: nil, limit: 10_000)
    return records.flatMap { record in
      app.entitlements.map { entitlement in
        let now = evaluate(record.facts, entitlement: entitlement, in: app, at: clock.now())
        let others = stride(from: Int64(0), through: 200, by: 5).map { day in
          let moment = LivedWorld.start.advanced(byMilliseconds: day * 86_400_000)
          let then = evaluate(record.facts, entitlement: entitlement, in: app, at: moment)
          return then.isEntitled ? then.deciding?.productID.prefix(1) ?? "?" : "-"
        }
        return
          "\(record.key.customerID) \(entitlement) \(now.reason.rawValue) \(now.until?.description ?? "")"
          + " \(now.deciding?.transactionID ?? "") \(now.willRenew.map { $0 ? "on" : "off" } ?? "")"
          + " \(others.joined())"
      }
    }.sorted()
  }
}

/// Apple, without a network.
private struct SimulatorExchange: HTTPExchange {
  let simulator: AppStoreSimulator

  func send(
    _ request: OutgoingRequest, timeout: Duration, limit: Int
  ) async throws(HTTPExchangeError) -> IncomingResponse {
    let response = await simulator.respond(
      to: HTTPRequest(
        method: request.method, target: String(request.url.dropFirst("http://sandbox".count)),
        headers: HeaderFields(request.headers.map { ($0.name, $0.value) }), body: request.body))
    return IncomingResponse(
      status: response.status, headers: [("content-type", "application/json")], body: response.body)
  }
}

/// Time that passes only while somebody waits for the budget.
private final class WaitedTime: Sendable {
  private let total = Mutex(Duration.zero)

  var sum: Duration { total.withLock { $0 } }

  func add(_ duration: Duration) { total.withLock { $0 += duration + .milliseconds(1) } }
}
