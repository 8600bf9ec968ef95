package import AppStore

/// How the legacy receipts of an app are treated.
package struct ReceiptConfiguration: Hashable, Sendable {
  /// Who decides whether a receipt is genuine.
  package enum Verification: String, Hashable, Sendable, CaseIterable {
    /// Its signature, here.
    case local
    /// Apple's `verifyReceipt`.
    case endpoint
    /// Both, which must agree.
    case both
  }

  /// Who decides whether a receipt is genuine.
  package var verification = Verification.local
  /// Whether receipts are kept, besides what they say.
  package var retainsReceipts = false
  /// Whether a receipt that nobody can verify may be looked up at Apple by the number in it.
  package var looksUpUnverified = false
  /// Where `verifyReceipt` is, if not at Apple's own addresses: whole URLs.
  package var endpoints: [Environment: String] = [:]

  /// What holds for an app of which the file says nothing.
  package init() {}
}

extension ReceiptConfiguration {
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["verify", "retain", "look_up_unverified", "endpoints"])
    if let node = members["verify"] {
      guard let verification = Verification(rawValue: try node.text()) else {
        let known = Verification.allCases.map(\.rawValue).joined(separator: ", ")
        throw node.error("\(node.name) is not one of \(known)")
      }
      self.verification = verification
    }
    retainsReceipts = try members["retain"]?.flag() ?? false
    looksUpUnverified = try members["look_up_unverified"]?.flag() ?? false
    endpoints = try AppConfiguration.servers(members["endpoints"])
  }
}
