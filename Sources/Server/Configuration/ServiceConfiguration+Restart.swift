internal import Entitlements

extension ServiceConfiguration {
  /// Compares the sections and settings that apply from the next start on (docs/configuration.md, "Reload"). Files that
  /// they name are not compared.
  ///
  /// - Parameter start: the configuration with which the process started.
  /// - Returns: the names of those that differ, such as `limits` or `apps.sea.receipts`.
  package func pendingRestart(since start: ServiceConfiguration) -> [String] {
    let sections: [(name: String, isPending: Bool)] = [
      ("erasures", erasures != start.erasures),
      ("limits", listeners.limits != start.listeners.limits),
      ("listeners", !listeners.hasSameListeners(as: start.listeners)),
      ("log", log != start.log),
      (
        "retention",
        (retention, auditRetentionDays, retentionRequestDays)
          != (start.retention, start.auditRetentionDays, start.retentionRequestDays)
      ),
      ("store", store != start.store),
      ("tokens", tokens != start.tokens),
      ("traces", traces != start.traces),
      ("trusted_roots", roots != start.roots),
    ]
    let settings = apps.flatMap { app -> [String] in
      guard let first = start.apps.first(where: { $0.definition.id == app.definition.id }) else { return [] }
      return app.pendingRestart(since: first).map { "apps.\(app.definition.id).\($0)" }
    }
    return settings + sections.filter(\.isPending).map(\.name)
  }
}

extension AppConfiguration {
  /// The settings that differ and apply from the next start on. Those of the App Store Server API do so only if the
  /// app had a key, because a new client has the settings of the reload.
  fileprivate func pendingRestart(since start: AppConfiguration) -> [String] {
    let hadKey = start.key != nil
    let settings: [(name: String, isPending: Bool)] = [
      ("app_store_servers", hadKey && servers != start.servers),
      ("full_poll_interval", hadKey && fullPollInterval != start.fullPollInterval),
      ("gap_repair", hadKey && repairsGaps != start.repairsGaps),
      ("online_checks", onlineChecks != start.onlineChecks),
      ("receipts", receipts != start.receipts),
      ("status_polling", hadKey && pollsStatuses != start.pollsStatuses),
    ]
    return settings.filter(\.isPending).map(\.name)
  }
}

extension ListenersConfiguration {
  /// Whether the listeners are the same, apart from the limits and from the identity of the console, of which a reload
  /// applies all but the header.
  fileprivate func hasSameListeners(as other: ListenersConfiguration) -> Bool {
    (grpc, http, sandboxHosts, sandboxTargets) == (
      other.grpc, other.http, other.sandboxHosts, other.sandboxTargets
    )
      && (console.listener, console.links, console.identity?.header)
        == (other.console.listener, other.console.links, other.console.identity?.header)
  }
}
