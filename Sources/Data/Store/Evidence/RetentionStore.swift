package import AppStore

/// Lets go of the bodies of old evidence. The hash, the size, the verdict and all that followed stay.
package protocol RetentionStore {
  /// Goes through at most `limit` pieces of evidence behind `id` that arrived before `moment`, the oldest
  /// first, and forgets the bodies of those that `selection` is about.
  ///
  /// - Returns: the last piece it looked at, `nil` if there was none, and how many bodies it forgot.
  func forgetBodies(
    of selection: EvidenceSelection, receivedBefore moment: Instant, after id: EvidenceID?, limit: Int
  ) throws(StoreError) -> (last: EvidenceID?, forgotten: Int)
}

/// Some of the evidence, by what it is.
package enum EvidenceSelection: Hashable, Sendable {
  /// Whatever was not believed.
  case rejected
  /// What was believed of these kinds.
  case accepted(Set<Evidence.Kind>)
}
