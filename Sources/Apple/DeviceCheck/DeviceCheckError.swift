package import AppStore
package import AppStoreClient

/// The reason why a call of DeviceCheck failed. Nothing was changed at Apple, except possibly by a call without a response.
package enum DeviceCheckError: Error, Hashable, Sendable {
  /// The app has no DeviceCheck key for this environment.
  case noKey(appID: String, environment: Environment)
  /// Apple rejected the request (400), mostly because of the device token; the text is Apple's.
  case refused(String)
  /// Apple rejected the bearer token (401 or 400): the key, its id or the team id is wrong.
  case keyRejected(String)
  /// Apple could not be called, or did not respond as documented.
  case call(AppStoreClientError)

  /// Whether Apple certainly did nothing.
  package var hadNoEffect: Bool {
    switch self {
    case .noKey, .refused, .keyRejected: true
    case .call(.rateLimited), .call(.localRateLimit), .call(.circuitOpen), .call(.clockSkew),
      .call(.signingFailed):
      true
    case .call: false
    }
  }

  /// The value of the label `outcome` of metrics.
  var metricLabel: String {
    switch self {
    case .noKey: "no_key"
    case .refused: "refused"
    case .keyRejected: "unauthorized"
    case .call(let error): error.metricLabel
    }
  }
}

extension DeviceCheckError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noKey(let appID, let environment):
      "app '\(appID)' has no device_check key for \(environment.rawValue)"
    case .refused(let text): "DeviceCheck rejected the request: \(text)"
    case .keyRejected(let text):
      "DeviceCheck rejected the token: \(text); check the key, its id and the team id"
    case .call(let error): error.description
    }
  }
}
