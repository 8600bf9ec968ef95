internal import AppStore
internal import HTTP
internal import Ledger
internal import Store

/// Answers to `Check` that were given, found again by the bytes of the request: most services ask the same
/// again and again, and whoever asks in the same bytes gets the same answer until something changes.
///
/// Four things can change an answer, and each is compared at every look: the customer's facts
/// (``CustomerChanges``), the catalog (``CurrentCatalog/generation``), and time, which may have come to the
/// end of the answer or have been turned back before its beginning. So an answer from here is never older
/// than one from the store. One instance belongs to one event loop.
///
/// The memory is taken piece by piece as answers come, up to the size that was asked for. Each request has
/// eight places where it may be; the one that was filled longest ago makes room.
final class AnswerCache {
  /// Under which circumstances an answer is true.
  struct Validity {
    /// The first moment, and the first moment behind; `nil` for none.
    let from: Instant
    let until: Instant?
    /// ``StoreReader/seenCommit()`` of the turn that read the customer.
    let seenCommit: UInt64
    let customer: CustomerChanges.Slot
    /// ``CurrentCatalog/generation`` before the catalog was read.
    let catalogGeneration: UInt64
  }

  private struct Entry {
    let validity: Validity
    let requestCount: Int
    let answerCount: Int
  }

  /// With as many, chance crowds out few: their hashes fill half a cache line.
  private static let ways = 8
  /// Enough for nearly every request and its answer; the others are asked for each time.
  private static let placeBytes = 384
  private static let placesInPage = 128

  private let changes: CustomerChanges
  private let catalog: CurrentCatalog
  /// Of the request in each place; 0 where there is none.
  private var hashes: [UInt32]
  /// Which way of each set is filled next.
  private var nextWay: [UInt8]
  private var pages: [Page?]

  private final class Page {
    var entries = [Entry?](repeating: nil, count: placesInPage)
    var bytes = [UInt8](repeating: 0, count: placesInPage * placeBytes)
  }

  /// A cache of at most about `byteLimit` bytes; with less than a page it remembers nothing.
  init(changes: CustomerChanges, catalog: CurrentCatalog, byteLimit: Int) {
    self.changes = changes
    self.catalog = catalog
    let affordable = max(0, byteLimit) / (Self.placeBytes + MemoryLayout<Entry?>.stride)
    let places = affordable / Self.placesInPage * Self.placesInPage
    hashes = [UInt32](repeating: 0, count: places)
    nextWay = [UInt8](repeating: 0, count: places / Self.ways)
    pages = [Page?](repeating: nil, count: places / Self.placesInPage)
  }

  /// The answer to `request` with `suffix` behind it; `nil` if it is not remembered or may not be true at
  /// `now` any more.
  func answer(
    to request: UnsafeRawBufferPointer, at now: Instant, appending suffix: (inout [UInt8]) -> Void
  ) -> [UInt8]? {
    guard !hashes.isEmpty else { return nil }
    let hash = Self.hash(request)
    let first = firstPlace(of: hash)
    for place in first..<(first + Self.ways) where hashes[place] == hash {
      guard let page = pages[place / Self.placesInPage],
        let entry = page.entries[place % Self.placesInPage], entry.requestCount == request.count
      else { continue }
      let start = place % Self.placesInPage * Self.placeBytes
      let answer: [UInt8]? = page.bytes.withUnsafeBufferPointer { bytes in
        let stored = UnsafeRawBufferPointer(bytes)
        let answerStart = start + request.count
        guard UnsafeRawBufferPointer(rebasing: stored[start..<answerStart]).hasSameBytes(as: request),
          isTrue(entry.validity, at: now)
        else { return nil }
        var answer: [UInt8] = []
        answer.reserveCapacity(entry.answerCount + Self.suffixRoom)
        answer.append(
          contentsOf: UnsafeRawBufferPointer(
            rebasing: stored[answerStart..<(answerStart + entry.answerCount)]))
        return answer
      }
      if var answer {
        suffix(&answer)
        return answer
      }
    }
    return nil
  }

  /// Remembers the answer to `request`, unless the two take too much room.
  func remember(_ answer: [UInt8], to request: UnsafeRawBufferPointer, while validity: Validity) {
    guard !hashes.isEmpty, request.count + answer.count <= Self.placeBytes else { return }
    let hash = Self.hash(request)
    let first = firstPlace(of: hash)
    let way = Int(nextWay[first / Self.ways])
    nextWay[first / Self.ways] = UInt8((way + 1) % Self.ways)
    let place = first + way
    let page = page(of: place)
    let start = place % Self.placesInPage * Self.placeBytes
    page.bytes.withUnsafeMutableBytes { bytes in
      let room = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<(start + Self.placeBytes)])
      room.copyMemory(from: request)
      answer.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: room[request.count...]).copyMemory(from: $0)
      }
    }
    page.entries[place % Self.placesInPage] = Entry(
      validity: validity, requestCount: request.count, answerCount: answer.count)
    hashes[place] = hash
  }

  /// What a suffix takes at most without another allocation.
  private static let suffixRoom = 24

  private func isTrue(_ validity: Validity, at now: Instant) -> Bool {
    validity.from <= now && (validity.until.map { now < $0 } ?? true)
      && changes.lastCommit(in: validity.customer) <= validity.seenCommit
      && catalog.generation == validity.catalogGeneration
  }

  private func firstPlace(of hash: UInt32) -> Int {
    // The hash as a fraction of all that there are.
    Int((UInt64(hash) * UInt64(hashes.count / Self.ways)) >> 32) * Self.ways
  }

  private func page(of place: Int) -> Page {
    let index = place / Self.placesInPage
    if let page = pages[index] { return page }
    let page = Page()
    pages[index] = page
    return page
  }

  /// Never 0. Equal hashes can be contrived; that costs their maker a look into the store and nobody else
  /// more than one of eight places.
  private static func hash(_ request: UnsafeRawBufferPointer) -> UInt32 {
    var hash = UInt64(request.count)
    var position = 0
    while position + 8 <= request.count {
      hash = mixed(hash, request.loadUnaligned(fromByteOffset: position, as: UInt64.self))
      position += 8
    }
    var rest: UInt64 = 0
    while position < request.count {
      rest = rest << 8 | UInt64(request[position])
      position += 1
    }
    return UInt32(truncatingIfNeeded: mixed(hash, rest) >> 16) | 1
  }

  private static func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 29
  }
}
