internal import Entitlements
internal import Metrics

/// What is counted of facts that do not fit together: each when it is written, however often it is read.
enum ContradictionMetrics {
  /// Counts those of `found` that were not `known` before.
  static func count(_ found: [Contradiction], known: [Contradiction]) {
    let known = Set(known)
    for contradiction in found where !known.contains(contradiction) {
      Counter(
        label: "entitled_contradictions_total", dimensions: [("kind", contradiction.kind.rawValue)]
      ).increment()
    }
  }
}
