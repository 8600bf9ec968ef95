package import AppStore

/// The section `receipts` of an app: the policy for legacy receipts.
package struct ReceiptConfiguration: Hashable, Sendable {
  /// The method of verification.
  package enum Verification: String, Hashable, Sendable, CaseIterable {
    /// The signature, verified locally.
    case local
    /// Apple's `verifyReceipt` endpoint.
    case endpoint
    /// Both methods, which must agree.
    case both
  }

  /// The way in which app receipts are verified: by signature, by `verifyReceipt`, or by both.
  package var verification = Verification.local
  /// Whether receipts are stored in full, in addition to their contents.
  package var retainsReceipts = false
  /// Whether an unverifiable receipt may be looked up at Apple by its transaction id.
  package var looksUpUnverified = false
  /// URLs that replace Apple's `verifyReceipt` endpoints.
  package var endpoints: [Environment: String] = [:]

  /// The defaults.
  package init() {}
}

extension ReceiptConfiguration {
  /// Parses the section; a missing key has the default of its property.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["verify", "retain", "look_up_unverified", "endpoints"])
    if let node = members["verify"] { verification = try node.choice() }
    retainsReceipts = try members["retain"]?.flag() ?? false
    looksUpUnverified = try members["look_up_unverified"]?.flag() ?? false
    endpoints = try AppConfiguration.servers(members["endpoints"])
  }
}
