/// How much an app cares whether certificates were taken back.
package enum OnlineCheckPolicy: String, Hashable, Sendable, CaseIterable {
  /// Nobody is asked.
  case off
  /// What is known and fresh counts; nothing waits for the network.
  case soft
  /// Without a fresh answer nothing is accepted.
  case hard
}
