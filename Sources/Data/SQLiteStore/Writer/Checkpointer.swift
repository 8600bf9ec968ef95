internal import Dispatch
internal import Platform
internal import SQLite
internal import Store
internal import Synchronization

/// Brings pages from the write-ahead log to their place in the database file, beside the writer.
///
/// SQLite by itself does that at the end of a commit. Then whoever writes waits until the disk has thousands of
/// scattered pages, and the processor waits with them. Here the writer goes on. What it has added by then it brings
/// to its place itself, between two batches: then nothing is left, and the log begins anew.
final class Checkpointer: Sendable {
  private enum Stage { case resting, besideTheWriter, byTheWriter }

  /// From how many pages of the log on: 16 MiB, what about a thousand notifications change.
  private static let longEnough = 4000

  private let stage = Mutex(Stage.resting)
  private let thread = DispatchQueue(label: "entitled.store.checkpoint", qos: .utility)
  private let copier: Copier

  /// A checkpointer of the store at `path`, which exists.
  init(path: String) throws(StoreError) { copier = Copier(try Connection.writer(path: path)) }

  /// Looks what is to be done after a commit of `writer`, which leaves its checkpoints to this one.
  ///
  /// If the disk refuses, the log grows, and the next commit tries again: nothing is lost by that, and what is
  /// wrong with the disk is told to those who write.
  func follow(_ writer: Connection) {
    switch stage.withLock({ $0 }) {
    case .resting:
      guard writer.logLength >= Self.longEnough else { return }
      stage.withLock { $0 = .besideTheWriter }
      thread.async {
        ThreadPriority.setBackground()
        self.copier.copy()
        self.stage.withLock { $0 = .byTheWriter }
      }
    case .besideTheWriter: break
    case .byTheWriter:
      stage.withLock { $0 = .resting }
      try? writer.checkpoint()
    }
  }

  /// Returns when it has stopped.
  func close() { thread.sync { copier.close() } }
}

/// The connection that copies.
private final class Copier: @unchecked Sendable {
  // Unchecked: after `init` it is touched by the checkpointer's serial thread only.
  private var connection: Connection?

  init(_ connection: Connection) { self.connection = connection }

  func copy() {
    // Twice: the second time brings what was added during the first, which took longer.
    for _ in 0..<2 {
      try? connection?.checkpoint()
      try? connection?.syncCopied()
    }
  }

  func close() { connection = nil }
}
