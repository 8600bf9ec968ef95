internal import Synchronization

/// Chains that were traced before, found by the very bytes of the header that brought them.
///
/// Apple signs with a handful of chains at a time and tracing one costs several signatures, so a few
/// are remembered. Only a header under a valid signature gets in: others could fill the cache with
/// variants of one chain. The signature of a document is checked every time.
final class ChainCache: Sendable {
  private struct Entry: Sendable {
    let header: [UInt8]
    let chain: VerifiedChain
  }

  /// The most recently added is last.
  private let entries = Mutex<[Entry]>([])
  private let capacity: Int

  init(capacity: Int = 32) { self.capacity = capacity }

  /// The chain that exactly this header brought before.
  func chain(for header: ArraySlice<UInt8>) -> VerifiedChain? {
    let entries = entries.withLock { $0 }
    return entries.last { $0.header[...].hasSameBytes(as: header) }?.chain
  }

  /// Remembers a chain, and forgets the oldest if there are too many.
  func remember(_ chain: VerifiedChain, for header: ArraySlice<UInt8>) {
    let header = Array(header)
    entries.withLock { entries in
      guard !entries.contains(where: { $0.header == header }) else { return }
      if entries.count >= capacity { entries.removeFirst() }
      entries.append(Entry(header: header, chain: chain))
    }
  }
}
