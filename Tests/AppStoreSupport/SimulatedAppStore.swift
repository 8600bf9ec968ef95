internal import AppStore
package import AppStoreClient
package import AppleLookup
package import Entitlements
package import Foundation
internal import HTTP
package import Ledger
package import SQLiteStore
package import Sandbox
package import SignedData
internal import Synchronization

/// A store and a ledger whose App Store calls the sandbox simulator answers in this process.
package struct SimulatedAppStore: Sendable {
  package let simulator: AppStoreSimulator
  package let verifier: SignedDataVerifier
  package let catalog: CurrentCatalog
  package let store: SQLiteEntitlementStore
  package let ledger: EvidenceLedger
  package let lookup: PurchaseLookup
  package let exchange: SimulatorExchange
  package let clients = AppStoreClients()
  private let waited = WaitedTime()

  /// The monotonic time of the clients.
  package var uptime: @Sendable () -> Duration { { [waited] in waited.sum } }

  /// Lets time pass by the clients' clock, such as while a circuit is open.
  package func wait(_ duration: Duration) { waited.add(duration) }

  /// Creates a store below `folder` for one app, which must be in `simulator` too. All purchases are in the environment
  /// Sandbox; Production has none.
  package init(_ simulator: AppStoreSimulator, app: AppDefinition, folder: URL) throws {
    self.simulator = simulator
    let clock = simulator.clock
    verifier = try SignedDataVerifier(anchors: .apple().adding(simulator.root, for: .sandbox))
    catalog = CurrentCatalog(Catalog([app]))
    store = try SQLiteEntitlementStore(directory: folder.appending(path: "\(UUID())").path)
    ledger = EvidenceLedger(store: store, verifier: verifier, catalog: catalog, now: { clock.now() })
    exchange = SimulatorExchange(simulator, waited)
    let credentials = AppStoreCredentials(
      issuerID: "issuer", bundleID: app.identity.bundleID,
      signer: try JWTSigner(key: .generate(.p256), keyID: "KEY1"))
    for environment in app.environments where environment.isSignedByApple {
      let host = environment == .production ? SimulatorExchange.productionHost : "http://sandbox"
      clients[app.id, environment] = AppStoreServerClient(
        app: app.identity, environment: environment, server: AppStoreServer(baseURL: host),
        tokens: ServerAPITokenSource(credentials: credentials, now: { clock.now() }), exchange: exchange,
        clock: ClientClock(
          now: { clock.now() }, uptime: { [waited] in waited.sum }, sleep: { [waited] in waited.add($0) },
          random: { 0.5 }))
    }
    lookup = PurchaseLookup(clients: clients, ledger: ledger)
  }
}

/// Sends requests to the simulator without a network, and records their paths.
package final class SimulatorExchange: HTTPExchange {
  private struct State {
    var paths: [String] = []
    var timeouts: [Duration] = []
    var delay = Duration.zero
    var failure: HTTPExchangeError?
    var responses: [String: IncomingResponse] = [:]
    var isReleased = true
    var interruption: (@Sendable () async -> Void)?
  }

  static let productionHost = "http://production"

  /// The response of Production, which has no purchases, and accepts no token for an app without a release.
  private static func production(isReleased: Bool) -> IncomingResponse {
    guard isReleased else { return IncomingResponse(status: 401, headers: [], body: []) }
    let body = #"{"errorCode": 4040010, "errorMessage": "Transaction id not found."}"#
    return IncomingResponse(
      status: 404, headers: [("content-type", "application/json")], body: Array(body.utf8))
  }

  private let simulator: AppStoreSimulator
  private let waited: WaitedTime
  private let state = Mutex(State())

  package convenience init(_ simulator: AppStoreSimulator) { self.init(simulator, WaitedTime()) }

  fileprivate init(_ simulator: AppStoreSimulator, _ waited: WaitedTime) {
    self.simulator = simulator
    self.waited = waited
  }

  /// The paths of all requests so far, without queries.
  package var paths: [String] { state.withLock { $0.paths } }

  /// The time that each request so far was given.
  package var timeouts: [Duration] { state.withLock { $0.timeouts } }

  /// Lets each further request take so long, by the clients' clock.
  package func slowDown(to delay: Duration) { state.withLock { $0.delay = delay } }

  /// Fails all further requests; `nil` to answer them again.
  package func fail(with failure: HTTPExchangeError?) { state.withLock { $0.failure = failure } }

  /// Responds to all further calls about a purchase with `response`; `nil` to let the simulator respond again.
  package func respond(toCallsAbout id: String, with response: IncomingResponse?) {
    state.withLock { $0.responses[id] = response }
  }

  /// Answers in Production as for an app that was not released yet.
  package func withdrawRelease() { state.withLock { $0.isReleased = false } }

  /// Runs `body` once: after the next response was made, and before the caller receives it.
  package func interruptNextResponse(_ body: @escaping @Sendable () async -> Void) {
    state.withLock { $0.interruption = body }
  }

  package func send(
    _ request: OutgoingRequest, timeout: Duration, limit: Int
  ) async throws(HTTPExchangeError) -> IncomingResponse {
    let target = "/" + (request.url.split(separator: "/", maxSplits: 2).last.map(String.init) ?? "")
    let path = String(target.prefix { $0 != "?" })
    let (failure, isReleased, delay) = state.withLock { state in
      state.paths.append(path)
      state.timeouts.append(timeout)
      return (state.failure, state.isReleased, state.delay)
    }
    if delay > .zero { waited.add(delay) }
    if let failure { throw failure }
    if let id = path.split(separator: "/").last, let response = state.withLock({ $0.responses[String(id)] }) {
      return response
    }
    guard !request.url.hasPrefix(Self.productionHost) else { return Self.production(isReleased: isReleased) }
    let response = await simulator.respond(
      to: HTTPRequest(
        method: request.method, target: target,
        headers: HeaderFields(request.headers.map { ($0.name, $0.value) }), body: request.body))
    let interruption = state.withLock { state in
      defer { state.interruption = nil }
      return state.interruption
    }
    await interruption?()
    return IncomingResponse(
      status: response.status, headers: [("content-type", "application/json")], body: response.body)
  }
}

/// Time that passes only while a call waits for the rate limit or for a slow response.
private final class WaitedTime: Sendable {
  private let total = Mutex(Duration.zero)

  var sum: Duration { total.withLock { $0 } }

  func add(_ duration: Duration) { total.withLock { $0 += duration + .milliseconds(1) } }
}
