internal import AppStore
internal import CommandSupport
internal import RPC
internal import Services
internal import Store
internal import Telemetry
internal import Wire

extension Application {
  /// Adds the metrics of all components to `registry`.
  func addMetrics(to registry: MetricsRegistry, dataDirectory: String) {
    registry.add(policy.metrics)
    registry.add(ProcessMetrics(dataDirectory: dataDirectory))
    registry.add(CallbackMetricsSource { [clients = features.clients] in clients.samples })
    if feed.isShared {
      registry.add(
        CallbackMetricsSource { [feed] in
          let silence = SystemClock.now().milliseconds(since: feed.contact)
          return [MetricSample("entitled_feed_silence_seconds", Double(silence) / 1_000)]
        })
    }
    registry.add(
      CallbackMetricsSource { [health] in
        [
          MetricSample("entitled_build_info", labels: [("version", Version.current)], 1),
          MetricSample("entitled_ready", health.status(of: "") == .serving ? 1 : 0),
        ]
      })
    guard let replication = store.replication else { return }
    registry.add(
      CallbackMetricsSource { [leadership] in
        [
          MetricSample("entitled_leader", leadership.executesWrites ? 1 : 0),
          MetricSample("entitled_leader_epoch", Double(replication.leader?.epoch ?? 0)),
        ]
      })
  }
}
