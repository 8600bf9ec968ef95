internal import AppStore
internal import AppleLookup
internal import Configuration
internal import Entitlements
internal import Foundation
internal import Ledger
internal import Platform
internal import SQLiteStore
internal import Sandbox
internal import SandboxStore
internal import Services
internal import SignedData
internal import Store

/// Makes the parts of the service, and says in one line what is wrong if it cannot.
enum Startup {
  static func configuration(file: String?) throws -> ServiceConfiguration {
    do throws(ConfigurationError) {
      return try ServiceConfiguration.load(path: file)
    } catch {
      throw Failure(error.description)
    }
  }

  static func store(in directory: String) throws -> SQLiteEntitlementStore {
    do {
      return try SQLiteEntitlementStore(directory: directory)
    } catch {
      throw Failure(error.description)
    }
  }

  /// The store in a stopped service's data directory, for work that makes no sense on a new one.
  static func existingStore(in directory: String) throws -> SQLiteEntitlementStore {
    guard FileManager.default.fileExists(atPath: "\(directory)/entitled.sqlite") else {
      throw Failure("there is no store in \(directory)")
    }
    return try store(in: directory)
  }

  static func simulator(
    for configuration: ServiceConfiguration, data: String?, start: Instant? = nil
  ) throws -> AppStoreSimulator {
    do throws(SandboxError) {
      let storage: SandboxStorage = if let data { try .directory("\(data)/sandbox") } else { .memory }
      return try AppStoreSimulator(
        apps: configuration.apps.map(SandboxApp.init), storage: storage,
        now: SystemClock.now, start: start, poster: HTTPNotificationPoster.shared)
    } catch {
      throw Failure(error.description)
    }
  }

  /// Makes the services. Beside a sandbox they live by its clock, which a tester may have turned.
  static func services(
    _ configuration: ServiceConfiguration, _ store: any EntitlementStore, sandbox: EmbeddedSandbox?,
    clients: AppStoreClients, importFolder: String, answerCacheBytes: Int, policy: CallPolicy,
    supervisor: WorkerSupervisor
  ) throws -> Application {
    do {
      let clock =
        sandbox.map { ServiceClock($0.simulator.clock) } ?? ServiceClock(now: SystemClock.now)
      var anchors = try TrustAnchors.apple()
      for root in configuration.roots {
        anchors = anchors.adding(try certificate(root.path), for: root.environment)
      }
      if let sandbox { anchors = anchors.adding(sandbox.simulator.root, for: .sandbox) }
      let verifier = try SignedDataVerifier(anchors: anchors)
      let catalog = CurrentCatalog(configuration.catalog)
      let ledger = EvidenceLedger(store: store, verifier: verifier, catalog: catalog, now: clock.now)
      return Application(
        store: store, ledger: ledger, verifier: verifier, catalog: catalog,
        signing: try signing(configuration), gate: gate(configuration, verifier),
        clients: clients, secrets: try secrets(configuration),
        followUps: followUps(configuration),
        receipts: try receipts(configuration, sandbox: sandbox, importFolder: importFolder),
        outlets: try outlets(configuration), supervisor: supervisor, answerCacheBytes: answerCacheBytes,
        policy: policy, clock: clock,
        wallClock: SystemClock.now)
    } catch {
      throw Failure("\(error)")
    }
  }

  /// Reads a root that the configuration names, PEM or DER.
  static func certificate(_ path: String) throws -> Certificate {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw Failure("cannot read the trusted root \(path)")
    }
    do {
      return try Certificate(pem: String(decoding: bytes, as: UTF8.self))
    } catch {
      guard let certificate = try? Certificate(der: Array(bytes)) else {
        throw Failure("the trusted root \(path) is no certificate, neither PEM nor DER")
      }
      return certificate
    }
  }
}

extension ServiceClock {
  /// A sandbox's time.
  fileprivate init(_ clock: SandboxClock) {
    self.init(
      now: { clock.now() }, delay: { clock.milliseconds(until: $0) },
      adjustments: { clock.changes() })
  }
}

extension SandboxApp {
  /// The app as the sandbox sells it.
  fileprivate init(_ app: AppConfiguration) {
    self.init(
      id: app.definition.id, identity: app.definition.identity,
      products: app.definition.products.values.sorted { $0.productID < $1.productID }.map { product in
        let terms = app.terms[product.productID]
        return SandboxProduct(
          productId: product.productID, type: product.type,
          subscriptionGroupIdentifier: product.subscriptionGroup, level: product.level ?? 1,
          period: terms?.period, duration: product.duration, price: terms?.price,
          currency: terms?.currency ?? "USD")
      })
  }
}
