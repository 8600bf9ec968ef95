/// After how many days evidence of each group may lose its body. What is not named is kept.
package enum RetainedEvidence: String, Hashable, Sendable, CaseIterable {
  /// Whatever was not believed.
  case rejected
  /// What Apple sent by itself.
  case notifications
  /// Signed transactions, renewal infos and app transactions.
  case documents
  /// What app receipts said, and the receipts themselves where these are kept.
  case receipts

  /// Reads `retention`: groups with their days.
  static func days(_ node: ConfigurationNode?) throws(ConfigurationError) -> [RetainedEvidence: Int] {
    var days: [RetainedEvidence: Int] = [:]
    let members = try node?.members(allCases.map(\.rawValue))
    for group in allCases {
      guard let node = members?[group.rawValue] else { continue }
      days[group] = Int(try node.number(in: 1...36_500))
    }
    return days
  }
}
