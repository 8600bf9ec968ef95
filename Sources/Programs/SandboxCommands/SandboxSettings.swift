package import AppStore
package import CommandSupport
package import Configuration
internal import Entitlements
internal import Foundation
package import Sandbox
internal import SandboxStore

/// The settings with which a sandbox is opened.
package struct SandboxSettings: Sendable {
  /// The data directory; `nil` keeps the state in memory.
  let data: String?
  /// The simulated time at which a new sandbox begins; `nil` for the present.
  let start: Instant?
  /// The hosts to which it sends, besides this machine and those of the configuration.
  let targets: [String]
  /// Whether a reset leaves the clock as it is, because a service follows it.
  let keepsTime: Bool
  /// The maximum number of named worlds.
  var maxWorlds = SandboxWorlds.defaultLimit
  /// The catalog of a StoreKit configuration file; `nil` is that of the configuration.
  var imported: StoreKitImport?
  /// The root of the TLS certificates, in PEM; `nil` without TLS.
  var tlsRoot: String?

  /// Creates settings with the defaults of the others.
  package init(data: String?, start: Instant?, targets: [String], keepsTime: Bool) {
    (self.data, self.start, self.targets, self.keepsTime) = (data, start, targets, keepsTime)
  }

  /// Opens the worlds: the state of the one at `/` is in the data directory.
  ///
  /// - Throws: ``Failure`` if the state is in use, malformed or of a newer version.
  package func worlds(_ configuration: ServiceConfiguration) throws(Failure) -> SandboxWorlds {
    let poster = HTTPNotificationPoster(
      targets: NotificationTargets(allowedHosts: configuration.listeners.sandboxTargets + targets))
    let catalog = imported?.catalog ?? SandboxCatalog(apps: configuration.apps.map(SandboxApp.init))
    do throws(SandboxError) {
      let storage: SandboxStorage = if let data { try .directory("\(data)/sandbox") } else { .memory }
      let main = try AppStoreSimulator(
        apps: catalog.apps, settings: catalog.settings, storage: storage, now: SystemClock.now, start: start,
        keepsTime: keepsTime, poster: poster)
      return SandboxWorlds(main: main, catalog: catalog, limit: maxWorlds, tlsRoot: tlsRoot, poster: poster)
    } catch {
      throw Failure(error.description)
    }
  }
}

extension SandboxApp {
  /// The app with the products and prices that the sandbox sells.
  fileprivate init(_ app: AppConfiguration) {
    self.init(
      id: app.definition.id, identity: app.definition.identity,
      products: app.definition.products.values.sorted { $0.productID < $1.productID }.map { product in
        let terms = app.terms[product.productID]
        return SandboxProduct(
          productId: product.productID, type: product.type,
          subscriptionGroupIdentifier: product.subscriptionGroup, level: product.level ?? 1,
          period: terms?.period, duration: product.duration, price: terms?.price,
          monthlyPrice: terms?.monthlyPrice, currency: terms?.currency ?? "USD")
      })
  }
}
