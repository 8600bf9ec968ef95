package import Ledger

/// The reason why a request about migration jobs failed.
package enum MigrationError: Error, Hashable, Sendable {
  /// The app has no job with that id.
  case unknownMigration(String)
  /// The job still runs.
  case migrationRunning(String)
  /// The input is outside of the import folder.
  case inputPathNotAllowed(path: String, folder: String)
  /// The path is that of an upload, which callers name by its id.
  case inputIsUpload(String)
  /// There is no file of that name in the import folder.
  case inputNotFound(String)
  /// The server may not read the file.
  case inputUnreadable(String)
  /// The upload id is too long or has characters that are not allowed.
  case invalidUploadID
  /// The offset is not the size of the upload so far.
  case uploadOffsetMismatch(size: Int64)
  /// The uploads of the app would exceed their limits.
  case noRoomForUpload(limit: Int64)
  /// The file cannot be written.
  case uploadFailed(String)
  /// More lines at a time were requested than `limit`.
  case concurrencyTooHigh(limit: Int)
  /// The ledger or its store failed.
  case ledger(LedgerError)
}

extension MigrationError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unknownMigration(let id): "unknown migration '\(id)'"
    case .migrationRunning(let id): "migration '\(id)' runs; cancel it first"
    case .inputPathNotAllowed(let path, let folder):
      "input '\(path)' is outside of the import folder '\(folder)'"
    case .inputIsUpload(let path): "input '\(path)' is an upload; give its upload_id"
    case .inputNotFound(let path): "input '\(path)' not found"
    case .inputUnreadable(let path): "input '\(path)' is not readable by the server"
    case .invalidUploadID: "upload_id needs 1 to 64 letters, digits, dots, dashes and underscores"
    case .uploadOffsetMismatch(let size): "the offset does not match the \(size) bytes uploaded so far"
    case .noRoomForUpload(let limit):
      "the uploads of the app exceed \(limit) bytes (limits.max_upload_bytes) or \(ImportFolder.maxUploads) "
        + "in number; purge migrations that have ended"
    case .uploadFailed(let problem): "writing the upload failed: \(problem)"
    case .concurrencyTooHigh(let limit): "concurrency is above \(limit)"
    case .ledger(let error): error.description
    }
  }
}
