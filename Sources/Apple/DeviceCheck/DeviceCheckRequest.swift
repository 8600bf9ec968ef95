internal import SignedData

/// A device and the name of the request about it.
package struct DeviceCheckRequest: Hashable, Sendable {
  /// The device token of `DCDevice.generateToken`, in Base64.
  package let deviceToken: String
  /// The developer's name of the request. Attempts of one request have the same.
  package let transactionID: String

  /// A request with a new transaction id.
  package init(deviceToken: String) {
    self.deviceToken = deviceToken
    transactionID = Nonce.random().description
  }
}
