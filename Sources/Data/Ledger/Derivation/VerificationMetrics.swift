internal import Metrics
package import Store

/// What is counted of documents that are not believed.
package enum VerificationMetrics {
  /// Counts one, by its kind and the stable reason of its rejection.
  package static func count(_ kind: Evidence.Kind, reason: String) {
    Counter(
      label: "entitled_verification_failures_total",
      dimensions: [("kind", kind.rawValue), ("reason", reason)]
    ).increment()
  }
}
