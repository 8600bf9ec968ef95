internal import Callers
internal import Configuration
internal import Entitlements
internal import Ledger
internal import Logging
internal import Platform
internal import Services
internal import SignedData
internal import Store
internal import UnixSignals
internal import Webhooks

/// Reloads catalog, callers, webhooks, keys, secrets and TLS certificates on SIGHUP, without a restart. Each part is
/// replaced as a whole or stays as it is: an error in one does not prevent the others. Addresses, limits and the store
/// need a restart.
struct ConfigurationReloader: Worker {
  let name = "configuration_reload"
  let application: Application
  let tls: ListenerTLS
  let settings: ServeSettings
  /// The configuration with which the process started.
  let started: ServiceConfiguration
  let reloadSignals: UnixSignalsSequence
  let logger: Logger

  /// Reloads for each signal, including those that arrived before the call, until the task is cancelled.
  func run() async {
    for await _ in reloadSignals {
      await reloadConfiguration()
      reloadTokenKeys()
      tls.reload(logger)
    }
  }

  /// Reloads the file. If it is invalid, the current configuration stays in force.
  private func reloadConfiguration() async {
    // Without a file, the demo configuration is in force and cannot change.
    guard let file = settings.configurationFile else { return }
    do throws(ConfigurationError) {
      let configuration = try ServiceConfiguration.load(path: file)
      application.adopt(configuration.catalog)
      logger.info("catalog reloaded", metadata: ["apps": "\(configuration.catalog.appIDs)"])
      let pending = configuration.pendingRestart(since: started)
      application.information.adopt(.init(configuration, settings, pendingRestart: pending))
      if !pending.isEmpty {
        logger.warning("settings apply from the next start on", metadata: ["settings": "\(pending)"])
      }
      application.monitor.reportConfigurationError(nil)
      reloadCallers(configuration)
      await reloadWebhooks(configuration)
      reloadAppKeys(configuration)
    } catch {
      report(error, "reload of the configuration failed, keeping the current one")
    }
  }

  /// Replaces the callers of the API and of the console.
  private func reloadCallers(_ configuration: ServiceConfiguration) {
    do {
      let policy = try Startup.callerPolicy(configuration, at: settings.addresses, jwks: application.jwks)
      application.callers.replace(with: policy)
      try application.reloadConsoleCallers(configuration)
      logger.info("callers reloaded")
    } catch {
      report(error, "reload of callers failed, keeping the current ones")
    }
  }

  /// Replaces the webhooks, and in the leader stores the cursors of new ones.
  private func reloadWebhooks(_ configuration: ServiceConfiguration) async {
    do {
      let (webhooks, dispatcher) = (try Startup.webhooks(configuration), application.features.webhooks)
      guard application.executesWrites else { return replace(dispatcher, with: webhooks) }
      do throws(StoreError) {
        guard try await dispatcher.adopt(webhooks) else { return }
      } catch {
        // Another replica took over meanwhile.
        guard !application.executesWrites else { throw error }
        return replace(dispatcher, with: webhooks)
      }
      logger.info("webhooks reloaded")
    } catch {
      report(error, "reload of webhooks failed, keeping the current ones")
    }
  }

  /// Replaces the webhooks in a replica that is not the leader.
  private func replace(_ dispatcher: WebhookDispatcher, with webhooks: [WebhookSettings]) {
    dispatcher.replace(with: webhooks)
    logger.info("webhooks reloaded")
  }

  /// Reads the keys and secrets of all apps.
  private func reloadAppKeys(_ configuration: ServiceConfiguration) {
    do {
      try application.reloadAppKeys(configuration)
      logger.info("in-app purchase keys and shared secrets reloaded")
    } catch {
      report(error, "reload of in-app purchase keys and shared secrets failed, keeping the current ones")
    }
  }

  /// Reads the keys of entitlement tokens.
  private func reloadTokenKeys() {
    do throws(PrivateKeyFileError) {
      guard let key = try application.reloadTokenKeys() else { return }
      logger.info("token keys reloaded", metadata: ["signing": "\(key)"])
    } catch {
      report(error, "reload of token keys failed, keeping the current ones")
    }
  }

  /// Logs an error, and shows it in the status until a reload succeeds.
  private func report(_ error: any Error, _ event: Logger.Message) {
    application.monitor.reportConfigurationError("\(error)")
    logger.error(event, metadata: ["error": "\(error)"])
  }
}
