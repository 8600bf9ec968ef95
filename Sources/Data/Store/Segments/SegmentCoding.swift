internal import AppStore
package import Entitlements

/// The extensible format of ``SegmentConditions``, as in ``SubjectCoding``: each member has a number and a
/// length-prefixed text, and a set has one member for each value.
package enum SegmentCoding {
  /// The number of a member. Persisted.
  private enum Member: UInt8 {
    case state = 1
    case productID = 2
    case subscriptionGroup = 3
    case entitlement = 4
    case storefront = 5
    case mode = 6
    case sinceFrom = 7
    case sinceBefore = 8
    case minDaysInState = 9
    case maxDaysInState = 10
    case endsWithinDays = 11
    case commitmentEndsWithinDays = 12
    case minPaidDays = 13
    case needsPriceConsent = 14
    case hasWinBackOffer = 15
    case isUnclaimed = 16
    case selectsProducts = 17
    case selectedProduct = 18
    case ownership = 19
  }

  /// Encodes conditions; equal ones have equal bytes.
  package static func encode(_ conditions: SegmentConditions) -> [UInt8] {
    var encoder = FactEncoder()
    func add(_ member: Member, _ texts: some Sequence<String>) {
      for text in texts.sorted() {
        encoder.append(byte: member.rawValue)
        encoder.append(text)
      }
    }
    func add(_ member: Member, _ number: Int64?) { add(member, number.map { [String($0)] } ?? []) }
    let filter = conditions.filter
    add(.state, filter.states.map { String($0.rawValue) })
    add(.productID, filter.productIDs)
    add(.subscriptionGroup, filter.subscriptionGroups)
    add(.entitlement, filter.entitlements)
    add(.storefront, filter.storefronts)
    add(.mode, filter.modes.map { String($0.rawValue) })
    add(.sinceFrom, filter.sinceFrom?.millisecondsSince1970)
    add(.sinceBefore, filter.sinceBefore?.millisecondsSince1970)
    add(.minDaysInState, filter.minDaysInState)
    add(.maxDaysInState, filter.maxDaysInState)
    add(.endsWithinDays, filter.endsWithinDays)
    add(.commitmentEndsWithinDays, filter.commitmentEndsWithinDays)
    add(.minPaidDays, filter.minPaidDays)
    add(.needsPriceConsent, filter.needsPriceConsent ? 1 : nil)
    add(.hasWinBackOffer, filter.hasWinBackOffer ? 1 : nil)
    add(.isUnclaimed, filter.isUnclaimed.map { $0 ? 1 : 0 })
    add(.ownership, filter.ownerships.map(\.rawValue))
    add(.selectsProducts, conditions.productIDs == nil ? nil : 1)
    add(.selectedProduct, conditions.productIDs ?? [])
    return encoder.bytes
  }

  /// Decodes conditions.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if the bytes are not the output of ``encode(_:)``.
  package static func conditions(_ bytes: [UInt8]) throws(StoreError) -> SegmentConditions {
    var decoder = FactDecoder(bytes)
    var values: [UInt8: [String]] = [:]
    while !decoder.isAtEnd { values[try decoder.byte(), default: []].append(try decoder.text()) }
    func texts(_ member: Member) -> Set<String> { Set(values[member.rawValue] ?? []) }
    func numbers(_ member: Member) -> [Int64] { (values[member.rawValue] ?? []).compactMap { Int64($0) } }
    func instant(_ member: Member) -> Instant? {
      numbers(member).first.map(Instant.init(millisecondsSince1970:))
    }
    var filter = SegmentFilter()
    filter.states = Set(numbers(.state).compactMap(SegmentState.init(rawValue:)))
    filter.productIDs = texts(.productID)
    filter.subscriptionGroups = texts(.subscriptionGroup)
    filter.entitlements = texts(.entitlement)
    filter.storefronts = texts(.storefront)
    filter.modes = Set(numbers(.mode).compactMap { EntitlementSubstate(rawValue: Int($0)) })
    filter.sinceFrom = instant(.sinceFrom)
    filter.sinceBefore = instant(.sinceBefore)
    filter.minDaysInState = numbers(.minDaysInState).first
    filter.maxDaysInState = numbers(.maxDaysInState).first
    filter.endsWithinDays = numbers(.endsWithinDays).first
    filter.commitmentEndsWithinDays = numbers(.commitmentEndsWithinDays).first
    filter.minPaidDays = numbers(.minPaidDays).first
    filter.needsPriceConsent = !numbers(.needsPriceConsent).isEmpty
    filter.hasWinBackOffer = !numbers(.hasWinBackOffer).isEmpty
    filter.isUnclaimed = numbers(.isUnclaimed).first.map { $0 == 1 }
    filter.ownerships = Set(texts(.ownership).map(InAppOwnershipType.init(rawValue:)))
    return SegmentConditions(
      filter, productIDs: numbers(.selectsProducts).isEmpty ? nil : texts(.selectedProduct))
  }
}
