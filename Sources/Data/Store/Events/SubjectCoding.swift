internal import AppStore
package import Entitlements

/// The extensible format of the transaction that an event is about, as in ``StatusCoding``: each member has a
/// number and a length-prefixed text, so that a later version can add members that this one skips.
package enum SubjectCoding {
  /// The number of a member. Persisted.
  private enum Member: UInt8 {
    case transactionID = 1
    case originalTransactionID = 2
    case productID = 3
    case type = 4
    case ownership = 5
    case quantity = 6
    case price = 7
    case currency = 8
    case billingPlanType = 9
    case billingPeriodNumber = 10
    case totalBillingPeriods = 11
    case commitmentExpiresDate = 12
    case commitmentPrice = 13
    case revokedSeatQuantity = 14
    case segment = 15
  }

  /// Encodes a subject.
  package static func encode(_ subject: EventSubject) -> [UInt8] {
    var encoder = FactEncoder()
    func add(_ member: Member, _ text: String?) {
      guard let text else { return }
      encoder.append(byte: member.rawValue)
      encoder.append(text)
    }
    add(.transactionID, subject.transactionID)
    add(.originalTransactionID, subject.originalTransactionID)
    add(.productID, subject.productID)
    add(.type, subject.type?.rawValue)
    add(.ownership, subject.ownership.rawValue)
    add(.quantity, String(subject.quantity))
    add(.revokedSeatQuantity, subject.revokedSeatQuantity.map { String($0) })
    add(.price, subject.price.map { String($0) })
    add(.currency, subject.currency)
    add(.billingPlanType, subject.billingPlanType?.rawValue)
    add(.segment, subject.segment)
    guard let commitment = subject.commitment else { return encoder.bytes }
    add(.billingPeriodNumber, String(commitment.billingPeriodNumber))
    add(.totalBillingPeriods, String(commitment.totalBillingPeriods))
    add(.commitmentExpiresDate, commitment.expiresDate.map { String($0.millisecondsSince1970) })
    add(.commitmentPrice, commitment.price.map { String($0) })
    return encoder.bytes
  }

  /// Decodes a subject; `nil` for no bytes.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if the bytes are not the output of ``encode(_:)``.
  package static func subject(_ bytes: [UInt8]) throws(StoreError) -> EventSubject? {
    guard !bytes.isEmpty else { return nil }
    var decoder = FactDecoder(bytes)
    var texts: [UInt8: String] = [:]
    while !decoder.isAtEnd { texts[try decoder.byte()] = try decoder.text() }
    func text(_ member: Member) -> String? { texts[member.rawValue] }
    func number(_ member: Member) -> Int64? { text(member).flatMap { Int64($0) } }
    guard let transactionID = text(.transactionID), let line = text(.originalTransactionID),
      let productID = text(.productID), let quantity = number(.quantity)
    else { throw .corrupt("the transaction of an event cannot be read") }
    let commitment = number(.billingPeriodNumber).map { period in
      TransactionDetails.Commitment(
        billingPeriodNumber: period, totalBillingPeriods: number(.totalBillingPeriods) ?? 0,
        expiresDate: number(.commitmentExpiresDate).map(Instant.init(millisecondsSince1970:)),
        price: number(.commitmentPrice))
    }
    return EventSubject(
      transactionID: transactionID, originalTransactionID: line, productID: productID,
      type: text(.type).map { ProductType(rawValue: $0) },
      ownership: InAppOwnershipType(rawValue: text(.ownership) ?? ""), quantity: quantity,
      revokedSeatQuantity: number(.revokedSeatQuantity), price: number(.price), currency: text(.currency),
      billingPlanType: text(.billingPlanType).map(BillingPlanType.init(rawValue:)), commitment: commitment,
      segment: text(.segment))
  }
}
