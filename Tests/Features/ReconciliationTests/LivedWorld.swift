import AppStore
import Entitlements
import Foundation
import JSON
import SignedData
import Synchronization
import Testing

@testable import Sandbox

/// A sandbox in which customers did anything with their subscriptions for some months, the same for the same
/// seed, and all of Apple's documents about it.
struct LivedWorld {
  static let app = SandboxApp(
    id: "demo", identity: AppIdentity(bundleID: "com.example", appAppleID: nil),
    products: [
      SandboxProduct(
        productId: "monthly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "pro", level: 2,
        period: Period("P1M"), price: 4990),
      SandboxProduct(
        productId: "gold", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "pro", level: 1,
        period: Period("P1M"), price: 9990),
      SandboxProduct(
        productId: "weekly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "news", level: 1,
        period: Period("P1W"), price: 990),
    ])
  /// A catalog with one of the products, which grants `pro`.
  static let definition = AppDefinition(
    id: "demo", identity: app.identity, environments: [.sandbox],
    products: [
      ProductDefinition(
        productID: "monthly", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 2,
        entitlements: ["pro"])
    ])
  static let secret = "a secret of ours"
  static let start = Instant(millisecondsSince1970: 1_767_225_600_000)

  let simulator: AppStoreSimulator
  let folder: URL
  /// The documents that the app got from StoreKit, by the customer that it names when it submits them.
  private(set) var submissions: [(customer: String, transaction: String)] = []
  /// Every notification in both versions, in the order of what happened.
  private(set) var secondVersion: [[UInt8]] = []
  private(set) var firstVersion: [[UInt8]] = []

  private var random: SeededRandom
  private let customers: Int

  init(seed: UInt64, customers: Int, days: Int) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "lived-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let poster = CollectingPoster()
    simulator = try AppStoreSimulator(
      apps: [Self.app], storage: .memory, now: { Self.start }, poster: poster
    )
    random = SeededRandom(seed: seed)
    self.customers = customers
    try await act(.notificationURL, ["app": "demo", "url": "http://service", "version": 2])
    // Apple's sandbox sends a few types of version 1 only.
    try await act(.delivery, ["app": "demo", "rules": "PRODUCTION"])
    try await act(.sharedSecret, ["app": "demo", "password": .string(Self.secret)])
    try await act(.gracePeriod, ["app": "demo", "days": 16])
    for day in 1...days {
      for number in 0..<max(1, customers / 12) {
        // Apple does not sign two truths in one millisecond.
        let instant = Int64(day - 1) * 86_400_000 + Int64(number + 1) * 1_000
        try await simulator.advanceClock(to: Self.start.advanced(byMilliseconds: instant))
        try await step()
      }
      try await simulator.advanceClock(to: Self.start.advanced(byMilliseconds: Int64(day) * 86_400_000))
    }
    secondVersion = poster.bodies
    firstVersion = try await simulator.inFirstVersion()
  }

  /// The actions of a customer. Some of them are refused.
  private mutating func step() async throws {
    let account = "customer-\(Int.random(in: 0..<customers, using: &random))"
    let name = JSONValue.string(account)
    let product = JSONValue.string(Self.app.products.randomElement(using: &random)?.productId ?? "")
    let mine = await simulator.world.purchases(of: account, in: "demo").map(\.id)
    let id = JSONValue.string(mine.randomElement(using: &random).map { String($0) } ?? "0")
    let isOn = JSONValue.bool(Bool.random(using: &random))
    switch Int.random(in: 0..<10, using: &random) {
    case 0...3:
      let order: JSONObject = [
        "app": "demo", "productId": product, "account": name,
        "appAccountToken": .string(Self.token(of: account)),
      ]
      guard let bought = try? await simulator.perform(.purchases, Parameters(order)).transactions.first,
        let signed = try await simulator.purchase(bought)?.signedTransactionInfo
      else { return }
      submissions.append((account, signed))
    case 4, 5: _ = try? await act(.autoRenew, ["transactionId": id, "enabled": isOn])
    case 6: _ = try? await act(.billing, ["account": name, "fails": isOn])
    case 7: _ = try? await act(.refund, ["transactionId": id])
    case 8: _ = try? await act(.reverseRefund, ["transactionId": id])
    default: _ = try? await act(.extend, ["transactionId": id, "days": 5])
    }
  }

  private func act(_ action: Action, _ members: JSONObject) async throws {
    _ = try await simulator.perform(action, Parameters(members))
  }

  /// The UUID with which the app buys for a customer.
  private static func token(of customer: String) -> String {
    let number = customer.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) } & 0xFFFF_FFFF_FFFF
    let digits = String(number, radix: 16)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }
}

extension AppStoreSimulator {
  /// The notifications in version 1.
  fileprivate func inFirstVersion() throws -> [[UInt8]] {
    try world.notifications.flatMap { event in
      try world.version1Types(event.type, event.subtype, event.subject).compactMap { type in
        try legacyDocument(of: LivedWorld.app).notification(event, as: type)?.serialized()
      }
    }
  }
}

/// Keeps what is posted.
private final class CollectingPoster: NotificationPoster {
  private let kept = Mutex<[[UInt8]]>([])

  var bodies: [[UInt8]] { kept.withLock { $0 } }

  func exchange(_ body: [UInt8], with url: String) async -> ReceiverResponse {
    kept.withLock { $0.append(body) }
    return ReceiverResponse(result: .success)
  }
}
