/// Apple's stable name for one account's copy of one app: always the same number for the same two.
func appTransactionID(app: String, account: String) -> String {
  // FNV-1a, 64 bits: even over any names, and the same on every machine.
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  for byte in "\(app)\u{0}\(account)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  return String(700_000_000_000_000_000 + hash % 10_000_000_000_000_000)
}
