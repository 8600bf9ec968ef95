internal import Metrics
package import MetricsTestKit

extension TestMetrics {
  /// The metrics of this process, which can have one system of metrics only. Tests that run at the same time share it, so
  /// that each reads labels that no other one records.
  package static let ofProcess: TestMetrics = {
    let metrics = TestMetrics()
    MetricsSystem.bootstrap(metrics)
    return metrics
  }()
}
