internal import Bytes
internal import Synchronization

/// Chains that were traced before, found by the very bytes that brought them: the header of a JWS, or the
/// certificates of a receipt.
///
/// Apple signs with a handful of chains at a time and tracing one costs several signatures, so a few
/// are remembered. Only what came under a valid signature gets in: others could fill the cache with
/// variants of one chain. The signature of a document is checked every time.
final class ChainCache<Chain: Sendable>: Sendable {
  private struct Entry: Sendable {
    let bytes: [UInt8]
    let chain: Chain
  }

  /// The most recently added is last.
  private let entries = Mutex<[Entry]>([])
  private let capacity: Int

  init(capacity: Int = 32) { self.capacity = capacity }

  /// The chain that exactly these bytes brought before.
  func chain(for bytes: ArraySlice<UInt8>) -> Chain? {
    let entries = entries.withLock { $0 }
    return entries.last { $0.bytes[...].hasSameBytes(as: bytes) }?.chain
  }

  /// Remembers a chain, and forgets the oldest if there are too many.
  func remember(_ chain: Chain, for bytes: ArraySlice<UInt8>) {
    let bytes = Array(bytes)
    entries.withLock { entries in
      guard !entries.contains(where: { $0.bytes == bytes }) else { return }
      if entries.count >= capacity { entries.removeFirst() }
      entries.append(Entry(bytes: bytes, chain: chain))
    }
  }
}
