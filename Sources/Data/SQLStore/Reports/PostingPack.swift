internal import AppStore
internal import Bytes
internal import Reports
internal import Store

/// The postings of one purchase and instant, in one value.
///
/// A first purchase has a dozen postings. As rows, they take eight times as long to write and ten times the space.
enum PostingPack {
  /// The members that are those of the posting before, and those that are not the usual ones.
  private struct Flags: OptionSet {
    let rawValue: UInt64

    static let sameTransaction = Flags(rawValue: 1)
    static let sameDimensions = Flags(rawValue: 2)
    static let sameReason = Flags(rawValue: 4)
    static let sameCurrency = Flags(rawValue: 8)
    static let hasAmounts = Flags(rawValue: 16)
    static let hasCohort = Flags(rawValue: 32)
    /// The dimensions of the cohort are those of the posting.
    static let cohortHasDimensions = Flags(rawValue: 64)
    static let hasMarks = Flags(rawValue: 128)
    static let hasChargedOn = Flags(rawValue: 256)
  }

  /// The members before the first posting.
  private static let nothing = Posting(
    .active, at: Instant(millisecondsSince1970: 0), line: "", transactionID: "",
    Posting.Dimensions(productID: ""))

  /// Encodes postings without their line and instant, which are those of all.
  static func encode(_ postings: [Posting]) -> [UInt8] {
    var writer = Writer()
    writer.bytes.reserveCapacity(64 + 32 * postings.count)
    var previous = nothing
    for posting in postings {
      writer.append(posting, after: previous)
      previous = posting
    }
    return writer.bytes
  }

  /// Decodes postings in their order.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if the bytes are not those of ``encode(_:)``.
  static func decode(
    _ bytes: UnsafeBufferPointer<UInt8>, line: String, at instant: Instant
  ) throws(StoreError) -> [Posting] {
    var reader = Reader(bytes: UnsafeRawBufferPointer(bytes))
    var postings: [Posting] = []
    var previous = nothing
    (previous.line, previous.effectiveAt) = (line, instant)
    while !reader.isAtEnd {
      previous = try reader.posting(after: previous)
      postings.append(previous)
    }
    return postings
  }

  private struct Writer {
    var bytes: [UInt8] = []

    mutating func append(_ posting: Posting, after previous: Posting) {
      var flags: Flags = []
      if posting.transactionID == previous.transactionID { flags.insert(.sameTransaction) }
      if posting.dimensions == previous.dimensions { flags.insert(.sameDimensions) }
      if posting.reason == previous.reason { flags.insert(.sameReason) }
      if posting.currency == previous.currency { flags.insert(.sameCurrency) }
      if posting.amount != 0 || posting.proceeds != 0 { flags.insert(.hasAmounts) }
      if let cohort = posting.cohort {
        flags.insert(.hasCohort)
        if cohort.dimensions == posting.dimensions { flags.insert(.cohortHasDimensions) }
      }
      if posting.marks != 0 { flags.insert(.hasMarks) }
      if posting.chargedOn != nil { flags.insert(.hasChargedOn) }
      let day = ReportDay(posting.effectiveAt).number

      Varint.append(flags.rawValue, to: &bytes)
      append(posting.kind.rawValue)
      append(posting.count)
      if !flags.contains(.sameTransaction) { append(posting.transactionID) }
      if !flags.contains(.sameDimensions) { append(posting.dimensions) }
      if !flags.contains(.sameReason) { append(posting.reason) }
      if !flags.contains(.sameCurrency) { append(posting.currency) }
      if flags.contains(.hasAmounts) {
        append(posting.amount)
        append(posting.proceeds)
      }
      if let cohort = posting.cohort {
        append(day &- cohort.day.number)
        append(cohort.age)
        if !flags.contains(.cohortHasDimensions) { append(cohort.dimensions) }
      }
      if flags.contains(.hasMarks) { append(posting.marks) }
      if let charged = posting.chargedOn { append(day &- charged.number) }
    }

    private mutating func append(_ number: Int64) { Varint.append(Varint.zigzag(number), to: &bytes) }

    private mutating func append(_ text: String) {
      Varint.append(UInt64(text.utf8.count), to: &bytes)
      bytes.append(contentsOf: text.utf8)
    }

    private mutating func append(_ dimensions: Posting.Dimensions) {
      append(dimensions.productID)
      append(dimensions.group)
      append(dimensions.storefront)
      append(dimensions.offerKind)
    }
  }

  private struct Reader {
    let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset >= bytes.count }

    mutating func posting(after previous: Posting) throws(StoreError) -> Posting {
      let flags = Flags(rawValue: try unsigned())
      guard let kind = Posting.Kind(rawValue: try number()) else {
        throw .corrupt("a posting has an unknown kind")
      }
      var posting = previous
      posting.kind = kind
      posting.count = try number()
      if !flags.contains(.sameTransaction) { posting.transactionID = try text() }
      if !flags.contains(.sameDimensions) { posting.dimensions = try dimensions() }
      if !flags.contains(.sameReason) { posting.reason = try text() }
      if !flags.contains(.sameCurrency) { posting.currency = try text() }
      (posting.amount, posting.proceeds) = (0, 0)
      if flags.contains(.hasAmounts) {
        posting.amount = try number()
        posting.proceeds = try number()
      }
      let day = ReportDay(posting.effectiveAt).number
      posting.cohort = nil
      if flags.contains(.hasCohort) {
        let joined = ReportDay(number: day &- (try number()))
        let age = try number()
        let places = try flags.contains(.cohortHasDimensions) ? posting.dimensions : dimensions()
        posting.cohort = Posting.Cohort(day: joined, dimensions: places, age: age)
      }
      posting.marks = try flags.contains(.hasMarks) ? number() : 0
      posting.chargedOn = try flags.contains(.hasChargedOn) ? ReportDay(number: day &- number()) : nil
      return posting
    }

    private mutating func unsigned() throws(StoreError) -> UInt64 {
      guard let value = Varint.read(bytes, at: &offset) else { throw .corrupt("postings are cut off") }
      return value
    }

    private mutating func number() throws(StoreError) -> Int64 { Varint.unzigzag(try unsigned()) }

    private mutating func text() throws(StoreError) -> String {
      guard let count = Int(exactly: try unsigned()), count <= bytes.count - offset else {
        throw .corrupt("postings are cut off")
      }
      defer { offset += count }
      return String(
        decoding: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]), as: UTF8.self)
    }

    private mutating func dimensions() throws(StoreError) -> Posting.Dimensions {
      let productID = try text()
      let group = try text()
      let storefront = try text()
      return Posting.Dimensions(
        productID: productID, group: group, storefront: storefront, offerKind: try text())
    }
  }
}
