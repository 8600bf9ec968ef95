internal import AppStore
internal import AppStoreClient

extension AppStoreClientError {
  /// Why something still waits for Apple's word: a code for machines.
  var pendingReason: String {
    switch self {
    case .refused(let code, _): "APP_STORE_REFUSED_\(code.rawValue)"
    case .unauthorized, .clockSkew: "APP_STORE_KEY_REJECTED"
    default: "APP_STORE_UNAVAILABLE"
    }
  }
}
