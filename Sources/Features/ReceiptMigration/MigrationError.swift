package import Ledger

/// Why something about migration jobs cannot be done.
package enum MigrationError: Error, Hashable, Sendable {
  /// There is no job of that name.
  case unknownMigration(String)
  /// Jobs read from one folder only.
  case inputOutside(path: String, folder: String)
  /// There is no such file, or it may not be read.
  case noInput(String)
  /// The name is too long, or has other characters than it may.
  case invalidUploadID
  /// A piece of an upload is missing before this one.
  case gapInUpload(size: Int64)
  case uploadTooLarge(limit: Int64)
  /// The file cannot be written.
  case file(String)
  /// More at a time than there may be.
  case tooManyAtATime(limit: Int)
  case ledger(LedgerError)
}

extension MigrationError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unknownMigration(let id): "there is no migration \(id.debugDescription)"
    case .inputOutside(let path, let folder): "\(path) is not below \(folder), from where jobs may read"
    case .noInput(let path): "there is no file \(path) that can be read"
    case .invalidUploadID: "upload_id needs 1 to 64 letters, digits, dots, dashes and underscores"
    case .gapInUpload(let size): "only \(size) bytes were handed over before"
    case .uploadTooLarge(let limit): "an input has at most \(limit) bytes"
    case .file(let problem): "the input cannot be written: \(problem)"
    case .tooManyAtATime(let limit): "at most \(limit) receipts are worked on at a time"
    case .ledger(let error): error.description
    }
  }
}
