internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import CommandSupport
internal import Configuration
internal import DeviceCheck
internal import Entitlements
internal import Ledger
internal import Reconciliation
internal import Services
internal import SideBySide
internal import SignedData
internal import Store

// Adopts parts of a reloaded configuration; ``ConfigurationReloader`` calls these.
extension Application {
  /// Puts a catalog in force. Answers follow in the background; other replicas see which one this process has.
  func adopt(_ catalog: Catalog) {
    store.replication?.announce(catalog: catalog.fingerprint)
    self.catalog.adopt(catalog)
  }

  /// Reloads the keys of entitlement tokens. On an error, the current keys stay in force.
  ///
  /// - Returns: the id of the signing key; `nil` if tokens are turned off.
  func reloadTokenKeys() throws(PrivateKeyFileError) -> String? { try signing.tokens?.keys.reload() }

  /// Reads the in-app purchase keys, shared secrets and settings of RevenueCat's events again. All of them are read before
  /// anything is replaced, so on an error the current ones stay in force.
  ///
  /// - Throws: ``Failure``.
  func reloadAppKeys(_ configuration: ServiceConfiguration) throws {
    let clients = try Startup.clients(configuration, sandbox: sandbox)
    let deviceCheck = try Startup.deviceCheckClients(configuration, sandbox: sandbox)
    let offers = try Startup.offers(configuration)
    let secrets = try Startup.sharedSecrets(configuration)
    let revenueCat = try Startup.revenueCat(configuration)
    features.clients.adoptKeys(of: clients)
    features.deviceCheck.adoptKeys(of: deviceCheck)
    features.reconciler.adoptClients(policies: Startup.reconciliationPolicies(configuration))
    signing.offers.replace(with: offers)
    features.secrets.replace(with: secrets)
    features.revenueCat.replace(with: revenueCat)
  }
}
