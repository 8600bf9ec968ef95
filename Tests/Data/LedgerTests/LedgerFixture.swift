import AppStore
import Entitlements
import Foundation
import JSON
import Ledger
import PostgresStore
import PostgresSupport
import SQLStore
import SQLiteStore
import SignedData
import Store
import TestSupport

/// A ledger over a real store and real signatures of a test authority.
struct LedgerFixture {
  let store: any SQLBackedStore
  let ledger: EvidenceLedger
  let catalog = CurrentCatalog(Catalog([Self.app]))
  let clock = TestClock(at(50))
  let scope = CommandScope(appID: "ocean", environment: .sandbox, actor: "support")
  private let directory: String
  private let signer: JWSSigner
  private let verifier: SignedDataVerifier

  static let app = oceanApp(.keep)

  static func oceanApp(
    _ policy: OwnershipPolicy, customerFromAppAccountToken: Bool = false
  ) -> AppDefinition {
    AppDefinition(
      id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil),
      environments: [.sandbox],
      products: [
        ProductDefinition(productID: "monthly", type: .autoRenewableSubscription, entitlements: ["pro"])
      ], ownershipPolicy: policy, customerFromAppAccountToken: customerFromAppAccountToken)
  }

  /// Runs `body` with an empty ledger.
  static func run(_ body: (LedgerFixture) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "ledger-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    guard usesPostgres else {
      let fixture = try LedgerFixture(
        directory: directory.path, store: try SQLiteEntitlementStore(directory: directory.path))
      try await body(fixture)
      return await fixture.store.close()
    }
    try await PostgresSlots.shared.run {
      let server = try PostgresServer.shared()
      let database = try server.makeDatabase()
      defer { try? server.removeDatabase(database) }
      let store = try PostgresEntitlementStore(server.settings(database))
      try await body(LedgerFixture(directory: directory.path, store: store))
      await store.close()
    }
  }

  /// Whether the ledgers are on PostgreSQL, as in `make test-postgres`. A replay is on SQLite in any case, so that tests
  /// which compare a store with its replay compare the engines.
  private static let usesPostgres = ProcessInfo.processInfo.environment["ENTITLED_TEST_STORE"] == "postgres"

  private init(directory: String, store: any SQLBackedStore) throws {
    let authority = try TestAuthority.shared.get()
    signer = authority.signer
    verifier = authority.verifier
    self.directory = directory
    self.store = store
    ledger = EvidenceLedger(
      store: store, verifier: authority.verifier, catalog: catalog, now: { [clock] in clock.now })
  }

  /// The file of a store in SQLite.
  var storePath: String { "\(directory)/entitled.sqlite" }

  /// Another ledger on `store`, whose effects `recordEffects` receives.
  func makeLedger(
    _ store: any EntitlementStore,
    erasures: ErasureList = ErasureList(key: InstallationKey(bytes: [0])),
    recordEffects: @escaping @Sendable ([LedgerEffect]) -> Void
  ) -> EvidenceLedger {
    EvidenceLedger(
      store: store, verifier: verifier, catalog: catalog, now: { [clock] in clock.now }, erasures: erasures,
      recordEffects: recordEffects)
  }

  /// Another ledger on the same store, with other clocks.
  func makeLedger(clocks: ServiceClocks) -> EvidenceLedger {
    EvidenceLedger(
      store: store, verifier: verifier, catalog: catalog, clocks: clocks,
      erasures: ErasureList(key: InstallationKey(bytes: [0])))
  }

  /// A signed transaction of one period.
  func period(
    _ days: ClosedRange<Int64>, line: String = "L1", signed: Int64? = nil, _ changes: JSONObject = [:]
  ) throws -> String {
    var payload: JSONObject = [
      "transactionId": .string("\(line)-\(days.lowerBound)"), "originalTransactionId": .string(line),
      "bundleId": "com.example", "productId": "monthly", "type": "Auto-Renewable Subscription",
      "environment": "Sandbox", "purchaseDate": date(days.lowerBound), "expiresDate": date(days.upperBound),
      "signedDate": date(signed ?? days.lowerBound),
    ]
    for (name, value) in changes { payload[name] = value == .null ? nil : value }
    return try signer.sign(payload: payload)
  }

  /// A signed document.
  func sign(_ payload: JSONObject) throws -> String { try signer.sign(payload: payload) }

  /// A signed renewal info.
  func renewal(line: String = "L1", signed: Int64, environment: String = "Sandbox") throws -> String {
    try signer.sign(payload: [
      "originalTransactionId": .string(line), "productId": "monthly", "autoRenewProductId": "monthly",
      "autoRenewStatus": 0, "environment": .string(environment), "signedDate": date(signed),
    ])
  }

  /// The notification that Apple released seats.
  func unclaimed(seats: [String], signed: Int64) throws -> String {
    try signer.sign(payload: [
      "notificationType": "UNCLAIM_SEATS", "notificationUUID": .string("unclaim-\(signed)"), "version": "2.0",
      "signedDate": date(signed),
      "unclaimInfo": [
        "bundleId": "com.example", "environment": "Sandbox",
        "unclaimSeatIds": .array(seats.map(JSONValue.string)),
      ],
    ])
  }

  /// The notification of a consumption request.
  func consumptionRequest(_ transaction: String, signed: Int64, uuid: String) throws -> String {
    try signer.sign(payload: [
      "notificationType": "CONSUMPTION_REQUEST", "notificationUUID": .string(uuid), "version": "2.0",
      "signedDate": date(signed),
      "data": [
        "bundleId": "com.example", "environment": "Sandbox", "consumptionRequestReason": "OTHER",
        "signedTransactionInfo": .string(transaction),
      ],
    ])
  }

  /// Ingests a notification about a transaction, or about an app install.
  func notify(
    _ type: String, signed: Int64, _ transaction: String? = nil, appInstall: String? = nil
  ) async throws {
    var payload: JSONObject = [
      "notificationType": .string(type), "notificationUUID": .string("\(type)-\(signed)"), "version": "2.0",
      "signedDate": date(signed),
    ]
    if let transaction {
      payload["data"] = [
        "bundleId": "com.example", "environment": "Sandbox", "signedTransactionInfo": .string(transaction),
      ]
    }
    if let appInstall {
      let document = try signer.sign(payload: [
        "appTransactionId": .string(appInstall), "receiptType": "Sandbox", "bundleId": "com.example",
        "originalApplicationVersion": "1.0", "receiptCreationDate": date(signed),
      ])
      payload["appData"] = [
        "bundleId": "com.example", "environment": "Sandbox", "signedAppTransactionInfo": .string(document),
      ]
    }
    let signed = try signer.sign(payload: payload)
    let body = JSONValue.object(["signedPayload": .string(signed)]).serialized()
    _ = try await ledger.ingest(
      IncomingNotification(appID: "ocean", body: body, source: .notification, receivedAt: clock.now),
      signedPayload: signed)
  }

  func submit(
    _ jws: String, renewal: String? = nil, for customerID: String? = "ana", app: String = "ocean"
  ) async throws(LedgerError) -> SubmissionResult {
    try await ledger.submit(
      Submission(appID: app, customerID: customerID, signedTransaction: jws, signedRenewalInfo: renewal))
  }

  /// The stored facts of a customer.
  func facts(of customerID: String = "ana") throws -> CustomerFacts? {
    try store.makeCheckReader().facts(
      of: CustomerKey(appID: "ocean", environment: .sandbox, customerID: customerID))
  }

  /// The stored answer for `pro`.
  func answer(of customerID: String = "ana", on day: Int64) throws -> AnswerLookup {
    try store.makeCheckReader().answer(
      to: "pro", of: CustomerKey(appID: "ocean", environment: .sandbox, customerID: customerID),
      under: Self.app.fingerprint, at: at(day))
  }

  /// The stored events.
  func events() async throws -> [StoredEvent] {
    try await store.snapshot { snapshot throws in
      var events: [StoredEvent] = []
      for appID in try snapshot.appsWithEvents() {
        events += try snapshot.events(ofApp: appID, after: 0, limit: 100_000)
      }
      return events
    }
  }

  /// The unclaimed lines.
  func unclaimed() async throws -> [String] {
    try await store.snapshot { try $0.unclaimedLines(of: "ocean", in: .sandbox, after: nil, limit: 1000) }
      .map(\.lineID)
  }

  /// The tables in which the store differs from a replay of its evidence.
  func replayDifferences() async throws -> [TableDifference] {
    try await withReplay { rebuilt in
      try store.differences(from: rebuilt).filter { $0.onlyInFirst + $0.onlyInSecond > 0 }
    }
  }

  /// Runs `body` with a replay of the store's evidence.
  func withReplay<Result>(_ body: (SQLiteEntitlementStore) throws -> Result) async throws -> Result {
    let rebuilt = try SQLiteEntitlementStore(directory: "\(directory)/replay-\(UUID())")
    _ = try await EvidenceReplay.run(into: rebuilt, catalog: catalog.value, report: { _ in }) {
      (last, limit) throws(StoreError) in
      try await store.read(.background) { snapshot throws(StoreError) in
        try snapshot.evidence(after: last, limit: limit)
      }
    }
    let result = Swift.Result { try body(rebuilt) }
    await rebuilt.close()
    return try result.get()
  }

  func evidence() async throws -> [Evidence] {
    try await store.snapshot { try $0.evidence(after: nil, limit: 1000) }.map(\.evidence)
  }
}

private func date(_ day: Int64) -> JSONValue { .number(JSONNumber(at(day).millisecondsSince1970)) }

/// A chain with the structure of Apple's, created once for all tests.
private struct TestAuthority {
  let signer: JWSSigner
  let verifier: SignedDataVerifier

  static let shared = Result { try TestAuthority() }

  init() throws {
    let chain = try TestChain(from: at(-1000), until: at(1000))
    signer = chain.signer
    verifier = try chain.verifier()
  }
}

/// A store that runs each write body twice: once as a dry run, as if the first commit failed.
struct RetryingStore: StoreWrapper {
  let store: any EntitlementStore

  init(_ store: any EntitlementStore) { self.store = store }

  func write<Outcome: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) throws(StoreError) -> Outcome
  ) async throws(StoreError) -> Outcome {
    _ = try await store.dryRun(body)
    return try await store.write(body)
  }
}

extension EvidenceLedger {
  /// Records the changes of time alone until `instant`.
  @discardableResult
  func advance(to instant: Instant) async throws -> Int {
    try await advance(by: ServiceClock(now: { instant }))
  }
}
