/// One of the two bits that Apple stores for a device and a developer's team (DeviceCheck, "Accessing and modifying
/// per-device data"). The raw values are Apple's, and configuration values.
package enum DeviceBit: String, Hashable, Sendable, CaseIterable {
  case bit0, bit1
}
