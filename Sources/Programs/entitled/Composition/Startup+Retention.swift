internal import Configuration
internal import Ledger
internal import Store

extension Startup {
  /// Which bodies of evidence may go, and when.
  static func retentionRules(_ configuration: ServiceConfiguration) -> [EvidenceRetention.Rule] {
    configuration.retention.map { group, days in
      switch group {
      case .rejected: EvidenceRetention.Rule(.rejected, days: days)
      case .notifications: EvidenceRetention.Rule(.notifications, days: days)
      case .documents: EvidenceRetention.Rule(.documents, days: days)
      case .receipts: EvidenceRetention.Rule(.receipts, days: days)
      }
    }
  }
}
