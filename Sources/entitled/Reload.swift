internal import Configuration
internal import Entitlements
internal import Logging
internal import Services
internal import SignedData
internal import UnixSignals

/// Reads the catalog and the keys of entitlement tokens again on SIGHUP, so that they change without a
/// restart and without a call that is dropped.
struct Reload: Sendable {
  let services: ServiceSet
  /// `nil`: the demo app is configured, and stays as it is.
  let configurationFile: String?
  let logger: Logger

  /// Waits for signals until the task is cancelled.
  func run() async {
    for await _ in await UnixSignalsSequence(trapping: .sighup) {
      reloadCatalog()
      reloadKeys()
    }
  }

  /// A file that cannot be used changes nothing; the log says what is wrong, and in which line.
  private func reloadCatalog() {
    guard let configurationFile else { return }
    do throws(ConfigurationError) {
      let configuration = try ServiceConfiguration.load(path: configurationFile)
      services.adopt(configuration.catalog)
      logger.info("the catalog was read again", metadata: ["apps": "\(configuration.catalog.appIDs)"])
    } catch {
      logger.error("the catalog stays as it was", metadata: ["error": "\(error)"])
    }
  }

  private func reloadKeys() {
    do throws(PrivateKeyFileError) {
      if let key = try services.reloadKeys() {
        logger.info("token keys were read again", metadata: ["signing": "\(key)"])
      }
    } catch {
      logger.error("token keys stay as they were", metadata: ["error": "\(error)"])
    }
  }
}
