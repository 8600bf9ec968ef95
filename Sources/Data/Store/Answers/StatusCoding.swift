internal import AppStore
package import Entitlements

/// The extensible format of a status in an event: the state before or after the change.
///
/// Unlike ``AnswerCoding``, whose bytes can be recomputed, events are permanent. Each member has a number and
/// a length-prefixed text, so that a later version can add members that this one skips.
package enum StatusCoding {
  /// The number of a member. Persisted.
  private enum Member: UInt8 {
    case reason = 1
    case substate = 2
    case productState = 3
    case until = 4
    case checkAgainAt = 5
    case transactionID = 6
    case originalTransactionID = 7
    case productID = 8
    case ownership = 9
    case willRenew = 10
    case accessLevel = 11
    case since = 12
    case actBy = 13
    case grantID = 14
    case hasOutlook = 15
    case renewalProductID = 16
    case renewalPrice = 17
    case renewalCurrency = 18
    case needsPriceConsent = 19
    case winBackOfferIDs = 20
    case paidUntil = 21
    case billingPlanType = 22
    case billingPeriodNumber = 23
    case totalBillingPeriods = 24
    case commitmentExpiresDate = 25
    case grantSource = 26
    case grantExternalID = 27
    case grantProductID = 28
    case commitmentPrice = 29
    case payment = 30
    case paymentCurrency = 31
    case productType = 32
    case grantRevision = 33
  }

  /// Encodes a status.
  package static func encode(_ status: EntitlementStatus) -> [UInt8] {
    var members = MemberEncoder()
    members.add(.reason, status.reason.rawValue)
    members.add(.accessLevel, String(status.accessLevel.rawValue))
    members.add(.substate, String(status.substate.rawValue))
    members.add(.productState, status.productState.rawValue)
    members.add(.since, status.since)
    members.add(.until, status.until)
    members.add(.paidUntil, status.paidUntil)
    members.add(.checkAgainAt, status.checkAgainAt)
    members.add(.actBy, status.actBy)
    if let deciding = status.deciding { members.add(deciding) }
    if let grant = status.grant { members.add(grant) }
    if let outlook = status.outlook { members.add(outlook) }
    return members.bytes
  }

  /// Decodes a status.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if the bytes are not the output of ``encode(_:)``.
  package static func status(_ bytes: [UInt8]) throws(StoreError) -> EntitlementStatus {
    let members = try Members(bytes)
    guard let reason = members[.reason].flatMap(EntitlementReason.init(rawValue:)),
      let level = members.number(.accessLevel).flatMap({ AccessLevel(rawValue: Int($0)) }),
      let substate = members.number(.substate).flatMap({ EntitlementSubstate(rawValue: Int($0)) }),
      let productState = members[.productState].flatMap(ProductState.init(rawValue:))
    else { throw .corrupt("malformed status of an event") }
    return EntitlementStatus(
      reason, accessLevel: level, substate: substate, productState: productState,
      since: members.instant(.since), until: members.instant(.until),
      paidUntil: members.instant(.paidUntil), checkAgainAt: members.instant(.checkAgainAt),
      actBy: members.instant(.actBy),
      deciding: members.deciding, grant: members.grant, outlook: members.outlook)
  }

  /// Encodes members in the order in which they are added; one without a value is left out.
  private struct MemberEncoder {
    private var encoder = FactEncoder()

    var bytes: [UInt8] { encoder.bytes }

    mutating func add(_ member: Member, _ text: String?) {
      guard let text else { return }
      encoder.append(byte: member.rawValue)
      encoder.append(text)
    }

    mutating func add(_ member: Member, number: Int64?) {
      add(member, number.map { String($0) })
    }

    mutating func add(_ member: Member, _ instant: Instant?) {
      add(member, number: instant?.millisecondsSince1970)
    }

    mutating func add(_ deciding: DecidingTransaction) {
      add(.originalTransactionID, deciding.originalTransactionID)
      add(.transactionID, deciding.transactionID)
      add(.productID, deciding.productID)
      add(.productType, deciding.type?.rawValue)
      add(.ownership, deciding.ownership.rawValue)
      add(.billingPlanType, deciding.billingPlanType?.rawValue)
      if let commitment = deciding.commitment {
        add(.billingPeriodNumber, number: commitment.billingPeriodNumber)
        add(.totalBillingPeriods, number: commitment.totalBillingPeriods)
        add(.commitmentExpiresDate, commitment.expiresDate)
        add(.commitmentPrice, number: commitment.price)
      }
      add(.payment, number: deciding.payment)
      add(.paymentCurrency, deciding.currency)
    }

    mutating func add(_ grant: DecidingGrant) {
      add(.grantID, grant.grantID)
      guard !grant.source.isEmpty else { return }
      add(.grantSource, grant.source)
      add(.grantExternalID, grant.externalID)
      add(.grantProductID, grant.productID)
      add(.grantRevision, number: grant.revision)
    }

    mutating func add(_ outlook: RenewalOutlook) {
      add(.hasOutlook, "1")
      add(.willRenew, outlook.willRenew.map { $0 ? "1" : "0" })
      add(.renewalProductID, outlook.productID)
      add(.renewalPrice, number: outlook.price)
      add(.renewalCurrency, outlook.currency)
      add(.needsPriceConsent, outlook.needsPriceConsent ? "1" : nil)
      if !outlook.winBackOfferIDs.isEmpty {
        add(.winBackOfferIDs, outlook.winBackOfferIDs.joined(separator: "\n"))
      }
    }
  }

  /// The decoded members.
  private struct Members {
    private var texts: [UInt8: String] = [:]

    init(_ bytes: [UInt8]) throws(StoreError) {
      var decoder = FactDecoder(bytes)
      while !decoder.isAtEnd { texts[try decoder.byte()] = try decoder.text() }
    }

    subscript(member: Member) -> String? { texts[member.rawValue] }

    func number(_ member: Member) -> Int64? { self[member].flatMap { Int64($0) } }

    func instant(_ member: Member) -> Instant? {
      number(member).map(Instant.init(millisecondsSince1970:))
    }

    var deciding: DecidingTransaction? {
      guard let line = self[.originalTransactionID] else { return nil }
      return DecidingTransaction(
        transactionID: self[.transactionID] ?? line, originalTransactionID: line,
        productID: self[.productID] ?? "", type: self[.productType].map(ProductType.init(rawValue:)),
        ownership: InAppOwnershipType(rawValue: self[.ownership] ?? ""),
        billingPlanType: self[.billingPlanType].map(BillingPlanType.init(rawValue:)),
        commitment: commitment, payment: number(.payment), currency: self[.paymentCurrency])
    }

    var grant: DecidingGrant? {
      guard let id = self[.grantID] else { return nil }
      return DecidingGrant(
        grantID: id, source: self[.grantSource] ?? "", externalID: self[.grantExternalID] ?? "",
        productID: self[.grantProductID] ?? "", revision: number(.grantRevision) ?? 0)
    }

    private var commitment: TransactionDetails.Commitment? {
      guard let number = self.number(.billingPeriodNumber), let total = self.number(.totalBillingPeriods)
      else {
        return nil
      }
      return TransactionDetails.Commitment(
        billingPeriodNumber: number, totalBillingPeriods: total, expiresDate: instant(.commitmentExpiresDate),
        price: self.number(.commitmentPrice))
    }

    var outlook: RenewalOutlook? {
      guard self[.hasOutlook] != nil else { return nil }
      return RenewalOutlook(
        willRenew: self[.willRenew].map { $0 == "1" }, productID: self[.renewalProductID],
        price: number(.renewalPrice), currency: self[.renewalCurrency],
        needsPriceConsent: self[.needsPriceConsent] != nil,
        winBackOfferIDs: self[.winBackOfferIDs]?.split(separator: "\n").map(String.init) ?? [])
    }
  }
}
