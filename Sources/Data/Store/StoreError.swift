/// Why the store did not do what it was asked. Nothing was written when one of these is thrown.
package enum StoreError: Error, Hashable, Sendable {
  /// The directory or file cannot be used; `reason` is the operating system's.
  case cannotOpen(path: String, reason: String)
  /// Another process has the store open for writing.
  case inUse(path: String)
  /// A newer version of the program wrote the store; this one does not know its schema.
  case newerSchema(found: Int, supported: Int)
  /// An older version of the program wrote the store; starting the service brings it up to date.
  case olderSchema(found: Int, supported: Int)
  /// Too many reads or writes wait. The caller may retry after a short delay.
  case overloaded(waiting: Int)
  /// The deadline of a read passed before it finished.
  case deadlineExceeded
  /// The task of a read was cancelled.
  case cancelled
  /// There is no space left. Writing works again as soon as there is.
  case diskFull
  /// What was read is not what was written.
  case corrupt(String)
  /// The medium or the library failed; the text is for the operator's log.
  case failed(String)
  /// The store was closed.
  case closed
}

extension StoreError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .cannotOpen(let path, let reason): "cannot open the store in \(path): \(reason)"
    case .inUse(let path): "the store in \(path) is in use by another process"
    case .newerSchema(let found, let supported):
      "the store has schema version \(found), and this program knows versions up to \(supported)"
    case .olderSchema(let found, let supported):
      "the store has schema version \(found); start the service once to bring it to version \(supported)"
    case .overloaded(let waiting): "the store is overloaded: \(waiting) operations wait"
    case .deadlineExceeded: "the deadline of a store read passed"
    case .cancelled: "a store read was cancelled"
    case .diskFull: "no space is left for the store"
    case .corrupt(let what): "the store is damaged: \(what)"
    case .failed(let what): "the store failed: \(what)"
    case .closed: "the store is closed"
    }
  }
}
