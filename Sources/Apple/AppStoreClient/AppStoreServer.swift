package import AppStore

/// Where Apple's servers are, for one environment.
package struct AppStoreServer: Hashable, Sendable {
  /// The beginning of each URL: scheme and host, without a path.
  package let baseURL: String
  /// The host, for error messages and metrics.
  package let host: String
  /// The part of production's rate limits that counts here.
  package let rateLimitShare: Double

  /// A server by its parts; of `baseURL` a slash at the end is left out.
  package init(baseURL: String, rateLimitShare: Double = 1) {
    self.baseURL = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
    let rest = baseURL.split(separator: "://", maxSplits: 1).last ?? ""
    host = String(rest.prefix { $0 != "/" })
    self.rateLimitShare = rateLimitShare
  }

  /// Apple's own server for an environment; `nil` for those that are on a developer's machine alone.
  ///
  /// App Store Server API, "Choose the right environment"; its sandbox has a tenth of the budget.
  package init?(_ environment: Environment) {
    switch environment {
    case .production: self.init(baseURL: "https://api.storekit.apple.com")
    case .sandbox: self.init(baseURL: "https://api.storekit-sandbox.apple.com", rateLimitShare: 0.1)
    case .xcode, .localTesting: return nil
    }
  }

}
