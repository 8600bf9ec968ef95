internal import AppStore
internal import Bytes
internal import HTTP
internal import Ledger
internal import Store

/// A cache of `Check` responses by the bytes of the request, because most clients repeat the same requests.
///
/// Every lookup compares all that can change a response: the customer's facts (``CustomerVersions``), the
/// catalog (``CurrentCatalog/generation``), and the time, which may have passed the end of the validity or
/// have been set back before its start. A cached response is therefore never older than one from the store.
/// One instance belongs to one event loop.
///
/// The kernel commits the pages of the cache at their first write, so an idle cache uses little memory. The
/// cache is 8-way set-associative; the oldest entry of a set is replaced.
final class CheckResponseCache {
  /// The conditions under which a response is valid.
  struct Validity {
    /// The validity interval; without an end if `until` is `nil`.
    let from: Instant
    /// Exclusive; `nil`: no end.
    let until: Instant?
    /// Whether the interval is by the clock of the environment `Sandbox`.
    let isInSandbox: Bool
    /// Whether the customer has facts.
    let isKnown: Bool
    /// ``AnswerReader/snapshotVersion()`` of the tick that read the customer.
    let snapshotVersion: UInt64
    /// The slot of the customer's last change, which customers with the same hash share.
    let customer: CustomerVersions.Slot
    /// ``CurrentCatalog/generation`` from before the catalog was read.
    let catalogGeneration: UInt64
  }

  /// The header of a slot, followed by the bytes of the request and the response.
  private struct Entry {
    let validity: Validity
    let requestCount: UInt16
    let answerCount: UInt16
  }

  /// With eight ways, few entries are lost to collisions, and the hashes of a set fill half a cache line.
  private static let ways = 8
  /// One cache line.
  private static let entryBytes = 64
  /// Enough for nearly all requests with their responses; larger ones are not cached.
  private static let contentBytes = 384
  private static let stride = entryBytes + contentBytes

  private let changes: CustomerVersions
  private let catalog: CurrentCatalog
  /// The hash of the request in each slot; 0 for an empty slot.
  private let hashes: UnsafeMutableBufferPointer<UInt32>
  /// The way of each set to replace next.
  private var nextWay: [UInt8]
  /// The slots. A lookup costs one cache miss for each line that it reads, so an entry is contiguous with its
  /// bytes and without indirection. Only slots with a hash contain an entry.
  private let memory: UnsafeMutableRawPointer

  /// A cache of at most about `byteLimit` bytes. If that is less than one set of slots, nothing is cached.
  init(changes: CustomerVersions, catalog: CurrentCatalog, byteLimit: Int) {
    precondition(MemoryLayout<Entry>.size <= Self.entryBytes)
    self.changes = changes
    self.catalog = catalog
    let sets = max(0, byteLimit) / (Self.ways * Self.stride)
    hashes = .allocate(capacity: sets * Self.ways)
    hashes.initialize(repeating: 0)
    nextWay = [UInt8](repeating: 0, count: sets)
    memory = .allocate(byteCount: max(1, sets * Self.ways * Self.stride), alignment: Self.entryBytes)
  }

  deinit {
    hashes.deallocate()
    memory.deallocate()
  }

  /// Returns the cached response to `request` with `suffix` appended, which gets the time in the environment of the
  /// response; `nil` if none is valid at `times`.
  func answer(
    to request: UnsafeRawBufferPointer, at times: EnvironmentTimes, isKnownOnly: Bool = false,
    appending suffix: (_ now: Instant, inout [UInt8]) -> Void
  ) -> [UInt8]? {
    guard !hashes.isEmpty else { return nil }
    let hash = Self.hash(request)
    let first = firstSlot(of: hash)
    for slot in first..<(first + Self.ways) where hashes[slot] == hash {
      let entry = entry(at: slot).pointee
      let stored = bytes(at: slot)
      let now = entry.validity.isInSandbox ? times.sandbox : times.others
      guard Int(entry.requestCount) == request.count,
        UnsafeRawBufferPointer(rebasing: stored[..<request.count]).hasSameBytes(as: request),
        isValid(entry.validity, at: now), entry.validity.isKnown || !isKnownOnly
      else { continue }
      let answerEnd = request.count + Int(entry.answerCount)
      var answer: [UInt8] = []
      answer.reserveCapacity(Int(entry.answerCount) + Self.suffixRoom)
      answer.append(contentsOf: stored[request.count..<answerEnd])
      suffix(now, &answer)
      return answer
    }
    return nil
  }

  /// Caches the response to `request`, unless both exceed the size of a slot.
  func insert(_ answer: [UInt8], to request: UnsafeRawBufferPointer, while validity: Validity) {
    guard !hashes.isEmpty, request.count + answer.count <= Self.contentBytes else { return }
    let hash = Self.hash(request)
    let first = firstSlot(of: hash)
    let way = Int(nextWay[first / Self.ways])
    nextWay[first / Self.ways] = UInt8((way + 1) % Self.ways)
    let slot = first + way
    entry(at: slot).initialize(
      to: Entry(
        validity: validity, requestCount: UInt16(request.count), answerCount: UInt16(answer.count)))
    let room = bytes(at: slot)
    room.copyMemory(from: request)
    UnsafeMutableRawBufferPointer(rebasing: room[request.count...]).copyBytes(from: answer)
    hashes[slot] = hash
  }

  private func entry(at slot: Int) -> UnsafeMutablePointer<Entry> {
    (memory + slot * Self.stride).assumingMemoryBound(to: Entry.self)
  }

  private func bytes(at slot: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(
      start: memory + slot * Self.stride + Self.entryBytes, count: Self.contentBytes)
  }

  /// The maximum size of a suffix that needs no second allocation.
  private static let suffixRoom = 24

  /// Whether nothing that decides about the response has changed since it was made.
  private func isValid(_ validity: Validity, at now: Instant) -> Bool {
    validity.from <= now && (validity.until.map { now < $0 } ?? true)
      && changes.lastCommit(in: validity.customer) <= validity.snapshotVersion
      && catalog.generation == validity.catalogGeneration
  }

  private func firstSlot(of hash: UInt32) -> Int {
    // Scales the hash to the number of sets.
    Int((UInt64(hash) * UInt64(hashes.count / Self.ways)) >> 32) * Self.ways
  }

  /// Never 0, which marks an empty slot. An attacker can construct collisions, but they only cost a read of
  /// the store and replace at most one of eight slots.
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
