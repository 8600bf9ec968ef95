import AppStore
import Entitlements
import TestSupport
import Testing

/// The effect of each revocation event in every order of arrival: the event, its receiver, the receiver's
/// transactions and the days of access.
@Suite struct RevocationMatrixTests {
  /// One row of the table.
  struct Row: CustomTestStringConvertible, Sendable {
    let event: String
    let receiver: String
    let has: String
    /// The receiver's documents in signing order.
    let documents: [TransactionFact]
    /// The days of access among the days 0 to 89.
    let access: [Range<Int64>]

    var testDescription: String { "\(event) | \(receiver) | \(has)" }
  }

  private static let own = period(0...30, line: "own")
  private static let shared = period(0...30, line: "shared", .familyShared)
  private static let next = period(30...60, line: "shared", .familyShared)
  private static let unlock = lifetime(on: 0, line: "unlock", .familyShared)
  private static let seat = period(0...30, line: "seat", .assigned)

  private static func row(
    _ event: String, _ receiver: String, _ has: String, _ documents: [TransactionFact],
    _ access: Range<Int64>...
  ) -> Row {
    Row(event: event, receiver: receiver, has: has, documents: documents, access: access)
  }

  static let table: [Row] = [
    row("nothing", "member", "FAMILY_SHARED", [shared], 0..<30),
    row("nothing", "member", "FAMILY_SHARED, bought once", [unlock], 0..<90),
    row("nothing", "holder of a seat", "ASSIGNED", [seat], 0..<30),
    row("DID_RENEW", "member", "FAMILY_SHARED", [shared, next], 0..<60),
    row("REVOKE", "member", "FAMILY_SHARED", [shared, shared.revoked(on: 10)], 0..<10),
    row("REVOKE", "member", "FAMILY_SHARED, bought once", [unlock, unlock.revoked(on: 10)], 0..<10),
    row("REVOKE", "holder of a seat", "ASSIGNED", [seat, seat.revoked(on: 10)], 0..<10),
    row("REVOKE before anything else", "member", "FAMILY_SHARED", [shared.revoked(on: 10)], 0..<10),
    row("REVOKE of the member's", "purchaser", "PURCHASED", [own], 0..<30),
    row(
      "REVOKE", "member", "FAMILY_SHARED and PURCHASED", [shared, own, shared.revoked(on: 10)], 0..<30),
    row(
      "REVOKE", "member", "FAMILY_SHARED, PURCHASED later",
      [shared, shared.revoked(on: 10), period(20...50, line: "own")], 0..<10, 20..<50),
    row(
      "REVOKE", "member", "FAMILY_SHARED longer than PURCHASED",
      [own, shared, next, next.revoked(on: 40)], 0..<40),
    row("REFUND", "purchaser", "PURCHASED", [own, own.revoked(on: 10)], 0..<10),
    row("REFUND, prorated", "purchaser", "PURCHASED", [own, own.revoked(on: 10, .refundProrated)], 0..<10),
    row(
      "REFUND of the own purchase", "member", "PURCHASED and FAMILY_SHARED",
      [own, shared, own.revoked(on: 10)], 0..<30),
    row(
      "REFUND of the own purchase, then REVOKE", "member", "PURCHASED and FAMILY_SHARED",
      [own, shared, own.revoked(on: 10), shared.revoked(on: 20)], 0..<20),
    row(
      "REFUND of an old period", "member", "FAMILY_SHARED", [shared, next, shared.revoked(on: 10)],
      0..<10, 30..<60),
    row(
      "REFUND_REVERSED", "purchaser", "PURCHASED", [own, own.revoked(on: 10), own.givenBack(on: 20)], 0..<30),
    row(
      "REVOKE, then given back", "member", "FAMILY_SHARED",
      [shared, shared.revoked(on: 10), shared.givenBack(on: 20)], 0..<30),
    row(
      "REVOKE, then joined again", "member", "FAMILY_SHARED",
      [shared, shared.revoked(on: 10), period(20...30, line: "shared", .familyShared)], 0..<10, 20..<30),
    row(
      "REVOKE, joined again, REVOKE", "member", "FAMILY_SHARED",
      [
        shared, shared.revoked(on: 10), period(20...30, line: "shared", .familyShared),
        period(20...30, line: "shared", .familyShared).revoked(on: 25),
      ], 0..<10, 20..<25),
    row(
      "REVOKE of an older period, late", "member", "FAMILY_SHARED", [shared, next, shared.revoked(on: 29)],
      0..<29, 30..<60),
    row(
      "REFUND/SEATS", "purchaser", "PURCHASED with 5 seats",
      [
        own.with { $0.quantity = 5 },
        own.with {
          $0.quantity = 5
          $0.revokedSeatQuantity = 2
          $0.signedDate = at(10)
        },
      ], 0..<30),
    row(
      "REFUND of the added seats only", "purchaser", "PURCHASED with 5 seats, 3 added",
      [own.with { $0.quantity = 5 }, added, added.revoked(on: 15)], 0..<30),
    row(
      "REFUND of all seats", "purchaser", "PURCHASED with 5 seats, 3 added",
      [
        own.with { $0.quantity = 5 }, added, own.with { $0.quantity = 5 }.revoked(on: 15),
        added.revoked(on: 15),
      ],
      0..<15),
  ]

  /// Seats added in the middle of the purchaser's period.
  private static let added = period(10...30, line: "own").with {
    $0.quantity = 3
    $0.details.additionalTransactionReason = "SEAT_ADDITION"
  }

  /// The days before and after each change that a row names.
  private static let days: [Int64] = [
    0, 9, 10, 14, 15, 19, 20, 24, 25, 28, 29, 30, 39, 40, 49, 50, 59, 60, 89,
  ]

  @Test("Every row holds in every order of arrival and with repetitions", arguments: table)
  func access(row: Row) {
    for order in permutations(row.documents) {
      for documents in [order, order + order.reversed()] {
        for day in Self.days {
          let expected = row.access.contains { $0.contains(day) }
          #expect(pro(documents, on: day).isEntitled == expected, "\(row.testDescription), day \(day)")
        }
      }
    }
  }

  @Test("An own purchase takes precedence over a shared one, which continues without a gap")
  func ownBeforeShared() {
    let both = [Self.own, Self.shared, Self.next]
    #expect(pro(both, on: 10).deciding?.ownership == .purchased)
    #expect(pro(both, on: 10).until == at(60))
    #expect(pro(both, on: 30, hours: 0).deciding?.ownership == .familyShared)
    #expect(pro(both, on: 30, hours: 0).since == at(0))
    let later = [Self.shared, period(30...60, line: "own")]
    #expect(pro(later, on: 10).deciding?.ownership == .familyShared)
    #expect(pro(later, on: 30, hours: 0).deciding?.ownership == .purchased)
    #expect(pro(later, on: 10).until == at(60))
  }

  @Test("A revoked member gets FAMILY_SHARING_ENDED, a refunded purchaser REFUNDED")
  func reasons() {
    #expect(pro([Self.shared.revoked(on: 10)], on: 12).reason == .familySharingEnded)
    #expect(pro([Self.own.revoked(on: 10)], on: 12).reason == .refunded)
  }
}
