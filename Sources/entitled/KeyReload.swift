internal import Logging
internal import Services
internal import SignedData
internal import UnixSignals

/// Reads the keys of entitlement tokens again on SIGHUP, so that they change without a restart.
struct KeyReload: Sendable {
  let services: ServiceSet
  let logger: Logger

  /// Waits for signals until the task is cancelled.
  func run() async {
    for await _ in await UnixSignalsSequence(trapping: .sighup) {
      do throws(PrivateKeyFileError) {
        if let key = try services.reloadKeys() {
          logger.info("token keys were read again", metadata: ["signing": "\(key)"])
        }
      } catch {
        logger.error("token keys stay as they were", metadata: ["error": "\(error)"])
      }
    }
  }
}
