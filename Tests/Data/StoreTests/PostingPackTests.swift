import AppStore
import Reports
import Store
import TestSupport
import Testing

@testable import SQLStore

@Suite struct PostingPackTests {
  private static let instant = Instant(millisecondsSince1970: 1_790_000_000_000)

  private static func random(_ random: inout SplitMix64) -> Posting {
    func number(_ limit: Int64) -> Int64 {
      // Often 0, and of both signs.
      Bool.random(using: &random) ? 0 : Int64.random(in: -limit...limit, using: &random)
    }
    func text(_ texts: String...) -> String { texts.randomElement(using: &random) ?? "" }
    func dimensions() -> Posting.Dimensions {
      Posting.Dimensions(
        productID: text("weekly", "wöchentlich"), group: text("", "pro"), storefront: text("USA", "DEU"),
        offerKind: text("", "INTRODUCTORY_FREE_TRIAL"))
    }
    var posting = Posting(
      Posting.Kind.allCases.randomElement(using: &random) ?? .active, at: instant, line: "L",
      transactionID: text("1", "2000000000000001"), dimensions())
    posting.reason = text("", "P1M")
    if Bool.random(using: &random) {
      posting.cohort = Posting.Cohort(
        day: ReportDay(number: number(30_000)),
        dimensions: Bool.random(using: &random) ? posting.dimensions : dimensions(), age: number(40))
    }
    (posting.marks, posting.count) = (number(70_000), number(.max / 4))
    (posting.amount, posting.proceeds) = (number(.max / 4), number(.max / 4))
    posting.currency = text("", "USD", "EUR")
    if Bool.random(using: &random) { posting.chargedOn = ReportDay(number: number(30_000)) }
    return posting
  }

  private static func decoded(_ bytes: some Sequence<UInt8>) throws -> [Posting] {
    try Array(bytes).withUnsafeBufferPointer { bytes in
      try PostingPack.decode(bytes, line: "L", at: instant)
    }
  }

  @Test("The postings of a pack are those that were encoded")
  func roundTrip() throws {
    var random = SplitMix64(state: 25)
    for count in 0..<60 {
      let postings = (0..<count).map { _ in Self.random(&random) }
      #expect(try Self.decoded(PostingPack.encode(postings)) == postings)
    }
  }

  @Test("A pack that is cut off is an error, or has fewer postings")
  func truncated() throws {
    var random = SplitMix64(state: 26)
    let postings = (0..<20).map { _ in Self.random(&random) }
    let bytes = PostingPack.encode(postings)
    let ends = Set((0..<20).map { PostingPack.encode(Array(postings.prefix($0))).count })
    for end in 0..<bytes.count where !ends.contains(end) {
      #expect(throws: StoreError.self) { try Self.decoded(bytes.prefix(end)) }
    }
  }

  @Test("The bytes of a pack are those of every version, because they are stored")
  func bytes() {
    var first = Posting(
      .startedPaid, at: Self.instant, line: "L", transactionID: "1",
      Posting.Dimensions(productID: "p", group: "g", storefront: "USA"))
    first.count = 1
    var second = first
    (second.kind, second.reason, second.currency, second.marks) = (.charge, "SUB", "USD", 3)
    (second.amount, second.proceeds) = (4_990, 3_493)
    let expected: [UInt8] = [
      // Its marks: the reason and the currency are empty, as before the first posting. Kind, count, texts.
      0x0C, 0x2A, 0x02, 0x01, 0x31, 0x01, 0x70, 0x01, 0x67, 0x03, 0x55, 0x53, 0x41, 0x00,
      // The same transaction and dimensions, with amounts and marks.
      0x93, 0x01, 0xA0, 0x01, 0x02, 0x03, 0x53, 0x55, 0x42, 0x03, 0x55, 0x53, 0x44,
      0xFC, 0x4D, 0xCA, 0x36, 0x06,
    ]
    #expect(PostingPack.encode([first, second]) == expected)
  }

  @Test("A posting that repeats the members of the one before takes few bytes")
  func size() {
    let first = Posting(
      .startedPaid, at: Self.instant, line: "L", transactionID: "2000000000000001",
      Posting.Dimensions(productID: "pro.monthly", group: "pro", storefront: "USA"))
    var second = first
    (second.kind, second.count) = (.active, 1)
    let more = PostingPack.encode([first, second]).count - PostingPack.encode([first]).count
    #expect(more <= 4)
  }
}
