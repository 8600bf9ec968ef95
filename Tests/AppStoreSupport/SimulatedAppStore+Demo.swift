package import AppStore
internal import Entitlements
package import Foundation
package import Sandbox

extension SimulatedAppStore {
  /// The App Store of the app `demo` on 1 January 2026: the subscription `monthly` grants `pro`. The catalog does not have
  /// the other products.
  package static func demo(
    selling others: [SandboxProduct] = [], in environments: [Environment] = [.sandbox], folder: URL
  ) throws -> SimulatedAppStore {
    let identity = AppIdentity(bundleID: "com.example", appAppleID: nil)
    let monthly = SandboxProduct(
      productId: "monthly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "pro", level: 1,
      period: Period("P1M"), price: 4990)
    let simulator = try AppStoreSimulator(
      apps: [SandboxApp(id: "demo", identity: identity, products: [monthly] + others)], storage: .memory,
      now: { Instant(millisecondsSince1970: 1_767_225_600_000) })
    let app = AppDefinition(
      id: "demo", identity: identity, environments: environments,
      products: [
        ProductDefinition(
          productID: "monthly", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 1,
          entitlements: ["pro"])
      ])
    return try SimulatedAppStore(simulator, app: app, folder: folder)
  }
}
