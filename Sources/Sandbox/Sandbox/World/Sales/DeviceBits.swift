internal import AppStore

/// The two bits that DeviceCheck stores about a device, and the month of their last change.
struct StoredDeviceBits: Hashable, Sendable {
  var bit0 = false
  var bit1 = false
  /// Such as `2026-11`.
  var month = ""
}

extension World {
  /// Sets bits of a device; those that are absent keep their value. The month is that of now, also if no bit changes.
  mutating func setDeviceBits(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let device = try parameters.string("device")
    var bits = deviceBits[device] ?? StoredDeviceBits()
    bits.bit0 = try parameters.flagIfPresent("bit0") ?? bits.bit0
    bits.bit1 = try parameters.flagIfPresent("bit1") ?? bits.bit1
    let date = CalendarTime(now)
    bits.month = "\(date.year)-\(date.month < 10 ? "0" : "")\(date.month)"
    deviceBits[device] = bits
    return Outcome(members: [("device", device)])
  }
}
