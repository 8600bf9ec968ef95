package import Store
internal import Synchronization

/// The store reader of one event loop.
///
/// It opens with the loop. If that fails, because the process has no free file descriptor for example, its
/// methods fail with UNAVAILABLE, readiness fails (``MissingReaders``), and the loop opens it again at
/// intervals. Confined to its loop.
final class EventLoopReader {
  private let open: () throws(StoreError) -> any CheckReader
  /// `nil` if no reader is needed.
  private let missing: MissingReaders?
  private var state: Result<any CheckReader, StoreError>

  /// Opens the reader.
  init(_ missing: MissingReaders, open: @escaping () throws(StoreError) -> any CheckReader) {
    self.open = open
    self.missing = missing
    state = Self.attempt(open)
    if case .failure(let error) = state { missing.add(error) }
  }

  /// Stands for the reader of a loop that loads answers over a network, and needs none.
  init() {
    open = { () throws(StoreError) in throw .closed }
    missing = nil
    state = .failure(.closed)
  }

  deinit {
    if case .failure = state { missing?.remove() }
  }

  /// The reader.
  ///
  /// - Throws: the error of the last attempt to open it.
  func opened() throws(StoreError) -> any CheckReader { try state.get() }

  /// Opens a missing reader. Returns whether the reader is open.
  func recover() -> Bool {
    guard let missing else { return true }
    if case .success = state { return true }
    state = Self.attempt(open)
    guard case .success = state else { return false }
    missing.remove()
    return true
  }

  /// Ends the snapshot of the current tick of the event loop.
  func endTick() {
    if case .success(let reader) = state { reader.endTick() }
  }

  private static func attempt(
    _ open: () throws(StoreError) -> any CheckReader
  ) -> Result<any CheckReader, StoreError> {
    do throws(StoreError) { return .success(try open()) } catch { return .failure(error) }
  }
}

/// The number of event loops without a store reader.
package final class MissingReaders: Sendable {
  private let number = Mutex(0)
  private let onError: @Sendable (StoreError) -> Void

  /// - Parameter onError: called when the reader of a loop cannot be opened, once for each loop.
  package init(onError: @escaping @Sendable (StoreError) -> Void = { _ in }) { self.onError = onError }

  /// The number at present.
  package var count: Int { number.withLock { $0 } }

  fileprivate func add(_ error: StoreError) {
    number.withLock { $0 += 1 }
    onError(error)
  }

  fileprivate func remove() { number.withLock { $0 -= 1 } }
}
