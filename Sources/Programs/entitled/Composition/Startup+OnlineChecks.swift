internal import AppStoreClient
internal import Configuration
internal import Entitlements
internal import Services
internal import SignedData

extension Startup {
  /// What asks certificate authorities; `nil` if no app wants that.
  static func gate(
    _ configuration: ServiceConfiguration, _ verifier: SignedDataVerifier
  ) -> OnlineCheckEnforcer? {
    let policies = Dictionary(
      configuration.apps.map { ($0.definition.id, $0.onlineChecks) }, uniquingKeysWith: { first, _ in first })
    guard policies.values.contains(where: { $0 != .off }) else { return nil }
    return OnlineCheckEnforcer(
      checks: OnlineChecks(fetcher: HTTPFetcher.shared, now: SystemClock.now), verifier: verifier,
      policies: policies)
  }
}
