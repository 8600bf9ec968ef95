internal import Callers
internal import Configuration
internal import Entitlements
internal import Logging
internal import Platform
internal import Services
internal import SignedData
internal import UnixSignals

/// Reads the catalog, the callers, the webhooks, the keys of entitlement tokens and the certificates of the ports again on
/// SIGHUP, so that they change without a restart and without a call that is dropped.
struct ConfigurationReloader: Worker {
  let name = "configuration_reload"
  let services: Application
  let security: ListenerTLS
  let callers: CurrentCallers
  let keyFetch: JWKSRefresher
  let monitor: HealthMonitor
  let settings: ServeSettings
  let hangUps: UnixSignalsSequence
  let logger: Logger

  /// Answers each of `hangUps`, those included that came before, until the task is cancelled.
  func run() async {
    for await _ in hangUps {
      await reloadConfiguration()
      reloadKeys()
      security.reload(logger)
    }
  }

  /// A file that cannot be used changes nothing; the log says what is wrong, and in which line.
  private func reloadConfiguration() async {
    // Without a file the demo app is configured, and stays as it is.
    guard let file = settings.configurationFile else { return }
    do throws(ConfigurationError) {
      let configuration = try ServiceConfiguration.load(path: file)
      services.adopt(configuration.catalog)
      logger.info("the catalog was read again", metadata: ["apps": "\(configuration.catalog.appIDs)"])
      monitor.reportConfigurationError(nil)
      reloadCallers(configuration)
      await reloadWebhooks(configuration)
    } catch {
      monitor.reportConfigurationError(error.description)
      logger.error(
        "the catalog stays as it was, and so do the callers and the webhooks", metadata: ["error": "\(error)"]
      )
    }
  }

  private func reloadWebhooks(_ configuration: ServiceConfiguration) async {
    do {
      guard try await services.adopt(outlets: Startup.outlets(configuration)) else { return }
      logger.info("the webhooks were read again")
    } catch {
      let reason = (error as? Failure)?.message ?? "\(error)"
      monitor.reportConfigurationError(reason)
      logger.error("the webhooks stay as they were", metadata: ["error": "\(reason)"])
    }
  }

  private func reloadCallers(_ configuration: ServiceConfiguration) {
    do {
      callers.replace(
        with: try Startup.admission(configuration, at: settings.addresses, fetch: keyFetch))
      logger.info("the callers were read again")
    } catch {
      let reason = (error as? Failure)?.message ?? "\(error)"
      monitor.reportConfigurationError(reason)
      logger.error("the callers stay as they were", metadata: ["error": "\(reason)"])
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
