internal import Platform
internal import SQLite
internal import Store
internal import Synchronization

/// Checkpoints the write-ahead log on its own thread, concurrently with the writer.
///
/// SQLite's automatic checkpoint runs inside a commit, so the writer would wait until the disk has written
/// thousands of scattered pages. Here the writer continues while a second connection copies. Between two
/// batches the writer copies the pages added meanwhile; the log is then empty and restarts from its
/// beginning.
final class Checkpointer: Sendable {
  /// A checkpoint's progress: the copier runs on its thread while `copying`; after `copied` the writer copies
  /// the rest.
  private enum Stage { case idle, copying, copied }

  /// The number of log pages that triggers a checkpoint: 16 MiB, about a thousand notifications.
  private static let pageThreshold = 4000

  private let stage = Mutex(Stage.idle)
  private let thread = BackgroundThreads(count: 1)
  private let copier: Copier

  /// Creates a checkpointer of the existing store at `path`.
  init(path: String) throws(StoreError) { copier = Copier(try Connection.writer(path: path)) }

  /// Starts or finishes a checkpoint after a commit of `writer`, whose automatic checkpoints are off.
  ///
  /// If a checkpoint fails, the log grows and the next commit tries again. No data is lost, and writes report
  /// the disk error.
  func checkpointIfNeeded(after writer: Connection) {
    switch stage.withLock({ $0 }) {
    case .idle:
      guard writer.walPageCount >= Self.pageThreshold else { return }
      stage.withLock { $0 = .copying }
      thread.async {
        self.copier.copy()
        self.stage.withLock { $0 = .copied }
      }
    case .copying: break
    case .copied:
      stage.withLock { $0 = .idle }
      try? writer.checkpoint()
    }
  }

  /// Waits for the running checkpoint and closes the connection.
  func close() { thread.sync { self.copier.close() } }
}

/// The connection that runs checkpoints.
// Unchecked: after `init` only the checkpointer's serial thread uses it.
private final class Copier: @unchecked Sendable {
  private var connection: Connection?

  init(_ connection: Connection) { self.connection = connection }

  /// Copies the log twice and syncs the database file, without blocking the writer.
  func copy() {
    // The second pass copies the pages that were added during the first, which takes longer.
    for _ in 0..<2 {
      try? connection?.checkpoint()
      try? connection?.syncDatabaseFile()
    }
  }

  func close() { connection = nil }
}
