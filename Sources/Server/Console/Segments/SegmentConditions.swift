internal import Pages
internal import Wire

extension SegmentFilter {
  /// The conditions as names and values.
  var conditions: String {
    let lists = [
      states.map { Text.name(of: $0) }, paymentModes.map { Text.name(of: $0) }, productIds,
      inAppOwnershipTypes.map { Text.name(of: $0) },
      subscriptionGroups, entitlements, storefronts,
    ].filter { !$0.isEmpty }.map { $0.joined(separator: Text.orWord) }
    let days = [
      (minDaysInState, Text.atLeastDays), (maxDaysInState, Text.lessThanDays),
      (endsWithinDays, Text.endsWithin), (commitmentEndsWithinDays, Text.commitmentEndsWithin),
      (minPaidDays, Text.paidDays),
    ].compactMap { number, text in number.map { text($0) } }
    let times = [
      sinceFrom == nil ? nil : "\(Text.since) \(sinceFrom.text)",
      sinceBefore == nil ? nil : "\(Text.before) \(sinceBefore.text)",
    ].compactMap(\.self)
    let flags = [
      needsPriceConsent ? Text.needsConsent : nil, hasWinBackOffer ? Text.winBack : nil,
      unclaimed.map { $0 ? Text.unclaimed : Text.claimed },
    ].compactMap(\.self)
    let all = lists + days + times + flags
    return all.isEmpty ? Text.allPurchases : all.joined(separator: " · ")
  }
}
