/// An error of the store. A call that throws one has written nothing, except perhaps for ``outcomeUnknown(_:)``.
package enum StoreError: Error, Hashable, Sendable {
  /// The directory or file is unusable; `reason` is the operating system's error text.
  case cannotOpen(path: String, reason: String)
  /// Another process holds the lock of the store.
  case inUse(path: String)
  /// A store was made here, as the file `marker` states, and its database at `path` is missing or empty.
  case missing(path: String, marker: String)
  /// A file of the open store was removed or replaced. Reads may continue; every write is refused.
  case removed(path: String)
  /// A newer version of the program wrote the store, with a schema that this version does not support.
  case newerSchema(found: Int, supported: Int)
  /// The store must be changed for this version of the program first, by `entitled store migrate`.
  case olderSchema(found: Int, required: Int)
  /// Too many reads or writes wait. The caller may retry after a short delay.
  case overloaded(waiting: Int)
  /// The deadline of a read passed before it finished.
  case deadlineExceeded
  /// The task of a read was cancelled.
  case cancelled
  /// No space is left on the device. Writes succeed again as soon as there is.
  case diskFull
  /// Another writer was first: nothing was written, and the caller may look and try again.
  case conflict(String)
  /// The database cannot be reached or accepts no writes now. Nothing was written.
  case unavailable(String)
  /// The connection was lost while a write was committed. The caller must check whether it was, before it repeats the
  /// write.
  case outcomeUnknown(String)
  /// The stored data is damaged.
  case corrupt(String)
  /// The database refuses the data of a write: a value that it cannot store, a limit or a constraint. The same write fails
  /// again.
  case refused(String)
  /// The device or the library failed; the text is for the operator's log.
  case failed(String)
  /// The store was closed.
  case closed
}

extension StoreError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .cannotOpen(let path, let reason): "cannot open the store in \(path): \(reason)"
    case .inUse(let path):
      "the store in \(path) is in use by another process; end it, or use another data directory"
    case .missing(let path, let marker):
      "the store in \(path) is missing or empty, although '\(marker)' states that one was made here; "
        + "restore a backup to \(path), or delete '\(marker)' to start with an empty store"
    case .removed(let path):
      "\(path) was removed or replaced while the store was open; stop the service, restore the store and start again"
    case .newerSchema(let found, let supported):
      "the store has schema version \(found), and this program knows versions up to \(supported); "
        + "start the newer program, or restore a backup from before its first start"
    case .olderSchema(let found, let required):
      "the store has schema version \(found), and this program needs version \(required); "
        + "run 'entitled store migrate' of this program"
    case .overloaded(let waiting): "the store is overloaded: \(waiting) operations wait"
    case .deadlineExceeded: "the deadline of a store read passed"
    case .cancelled: "a store read was cancelled"
    case .diskFull: "no space is left for the store"
    case .conflict(let reason): "another writer was first: \(reason)"
    case .unavailable(let reason): "the database is not available: \(reason)"
    case .outcomeUnknown(let reason): "the outcome of a write is unknown: \(reason)"
    case .corrupt(let what): "the store is damaged: \(what)"
    case .refused(let reason): "the database refuses the data: \(reason)"
    case .failed(let what): "the store failed: \(what)"
    case .closed: "the store is closed"
    }
  }
}

extension StoreError {
  /// Whether the statements of a write failed, and not its session or its transaction: other writes may succeed.
  package var concernsStatements: Bool {
    switch self {
    case .refused, .failed: true
    default: false
    }
  }
}
