/// The section `revenuecat_events` of an app: RevenueCat's webhooks, side by side with the answers here.
package struct RevenueCatEventsConfiguration: Hashable, Sendable {
  /// The value of the header `authorization`, as it is set in RevenueCat.
  package let authorization: SecretSource
  /// The secret with which RevenueCat signs its webhooks; `nil` checks no signature.
  package let signingSecret: SecretSource?
  /// The names of entitlements here, by their names in RevenueCat; others have the same name.
  package let entitlements: [String: String]
  /// The greatest difference of ends that counts as none, in seconds: 0 to a day.
  package let toleranceSeconds: Int64
  /// The number of days after which events are deleted: 1 to 3650.
  package let retentionDays: Int64

  /// Parses the section, of which only `authorization` is required. By default, ends may differ by a minute, and events
  /// are deleted after 400 days.
  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members([
      "authorization", "signing_secret", "entitlements", "tolerance_seconds", "retention_days",
    ])
    signingSecret = try members.part(members["signing_secret"].map(SecretSource.init))
    authorization = try SecretSource(members.required("authorization"))
    var names: [String: String] = [:]
    for (theirs, ours) in try members["entitlements"]?.entries() ?? [] { names[theirs] = try ours.text() }
    entitlements = names
    toleranceSeconds = try members["tolerance_seconds"]?.number(in: 0...86_400) ?? 60
    retentionDays = try members["retention_days"]?.number(in: 1...3_650) ?? 400
  }
}
