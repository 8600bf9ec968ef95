internal import JSON
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

/// The two bits that Apple stores for a device and a developer's team ("Accessing and modifying per-device data").
package struct DeviceBits: Hashable, Sendable {
  /// The first bit; its meaning is the developer's.
  package var bit0: Bool
  /// The second bit; its meaning is the developer's.
  package var bit1: Bool
  /// The month of the last change, as Apple writes it: `2026-11`. Empty if Apple sent none.
  package let lastUpdate: String

  package init(bit0: Bool, bit1: Bool, lastUpdate: String = "") {
    self.bit0 = bit0
    self.bit1 = bit1
    self.lastUpdate = lastUpdate
  }

  /// Decodes the response of `query_two_bits`; `nil` if a bit is missing.
  init?(_ object: JSONObject) {
    guard let bit0 = object["bit0"]?.boolValue, let bit1 = object["bit1"]?.boolValue else { return nil }
    self.init(bit0: bit0, bit1: bit1, lastUpdate: object["last_update_time"]?.stringValue ?? "")
  }
}
