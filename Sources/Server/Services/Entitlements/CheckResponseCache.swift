internal import AppStore
internal import Bytes
internal import HTTP
internal import Ledger
internal import Store

/// Answers to `Check` that were given, found again by the bytes of the request: most services ask the same
/// again and again, and whoever asks in the same bytes gets the same answer until something changes.
///
/// Four things can change an answer, and each is compared at every look: the customer's facts
/// (``CustomerVersions``), the catalog (``CurrentCatalog/generation``), and time, which may have come to the
/// end of the answer or have been turned back before its beginning. So an answer from here is never older
/// than one from the store. One instance belongs to one event loop.
///
/// Of the memory that was asked for, only what is in use is taken: the kernel gives its pages when they are first
/// written. Each request has eight places where it may be; the one that was filled longest ago makes room.
final class CheckResponseCache {
  /// Under which circumstances an answer is true.
  struct Validity {
    /// The first moment, and the first moment behind; `nil` for none.
    let from: Instant
    let until: Instant?
    /// ``AnswerReader/snapshotVersion()`` of the turn that read the customer.
    let snapshotVersion: UInt64
    let customer: CustomerVersions.Slot
    /// ``CurrentCatalog/generation`` before the catalog was read.
    let catalogGeneration: UInt64
  }

  /// What stands at the beginning of a place; the bytes of the request and of its answer follow.
  private struct Entry {
    let validity: Validity
    let requestCount: UInt16
    let answerCount: UInt16
  }

  /// With as many, chance crowds out few: their hashes fill half a cache line.
  private static let ways = 8
  /// A cache line for the entry.
  private static let entryBytes = 64
  /// Enough for nearly every request and its answer; the others are asked for each time.
  private static let placeBytes = 384
  private static let stride = entryBytes + placeBytes

  private let changes: CustomerVersions
  private let catalog: CurrentCatalog
  /// Of the request in each place; 0 where there is none.
  private var hashes: [UInt32]
  /// Which way of each set is filled next.
  private var nextWay: [UInt8]
  /// The places. A look costs as many cache misses as lines it reads, so an entry is one with its bytes, and no
  /// object is on the way. Only places with a hash hold an entry.
  private let memory: UnsafeMutableRawPointer

  /// A cache of at most about `byteLimit` bytes; with room for less than a set of places it remembers nothing.
  init(changes: CustomerVersions, catalog: CurrentCatalog, byteLimit: Int) {
    precondition(MemoryLayout<Entry>.size <= Self.entryBytes)
    self.changes = changes
    self.catalog = catalog
    let sets = max(0, byteLimit) / (Self.ways * Self.stride)
    hashes = [UInt32](repeating: 0, count: sets * Self.ways)
    nextWay = [UInt8](repeating: 0, count: sets)
    memory = .allocate(byteCount: max(1, sets * Self.ways * Self.stride), alignment: Self.entryBytes)
  }

  deinit { memory.deallocate() }

  /// The answer to `request` with `suffix` behind it; `nil` if it is not remembered or may not be true at
  /// `now` any more.
  func answer(
    to request: UnsafeRawBufferPointer, at now: Instant, appending suffix: (inout [UInt8]) -> Void
  ) -> [UInt8]? {
    guard !hashes.isEmpty else { return nil }
    let hash = Self.hash(request)
    let first = firstPlace(of: hash)
    for place in first..<(first + Self.ways) where hashes[place] == hash {
      let entry = entry(at: place).pointee
      let stored = bytes(at: place)
      guard Int(entry.requestCount) == request.count,
        UnsafeRawBufferPointer(rebasing: stored[..<request.count]).hasSameBytes(as: request),
        isTrue(entry.validity, at: now)
      else { continue }
      let answerEnd = request.count + Int(entry.answerCount)
      var answer: [UInt8] = []
      answer.reserveCapacity(Int(entry.answerCount) + Self.suffixRoom)
      answer.append(contentsOf: stored[request.count..<answerEnd])
      suffix(&answer)
      return answer
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
    entry(at: place).initialize(
      to: Entry(
        validity: validity, requestCount: UInt16(request.count), answerCount: UInt16(answer.count)))
    let room = bytes(at: place)
    room.copyMemory(from: request)
    UnsafeMutableRawBufferPointer(rebasing: room[request.count...]).copyBytes(from: answer)
    hashes[place] = hash
  }

  private func entry(at place: Int) -> UnsafeMutablePointer<Entry> {
    (memory + place * Self.stride).assumingMemoryBound(to: Entry.self)
  }

  private func bytes(at place: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(
      start: memory + place * Self.stride + Self.entryBytes, count: Self.placeBytes)
  }

  /// What a suffix takes at most without another allocation.
  private static let suffixRoom = 24

  private func isTrue(_ validity: Validity, at now: Instant) -> Bool {
    validity.from <= now && (validity.until.map { now < $0 } ?? true)
      && changes.lastCommit(in: validity.customer) <= validity.snapshotVersion
      && catalog.generation == validity.catalogGeneration
  }

  private func firstPlace(of hash: UInt32) -> Int {
    // The hash as a fraction of all that there are.
    Int((UInt64(hash) * UInt64(hashes.count / Self.ways)) >> 32) * Self.ways
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
