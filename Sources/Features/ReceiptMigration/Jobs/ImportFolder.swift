internal import Bytes
internal import Foundation
package import Ledger
package import Store

/// The only folder from which jobs read, and to which callers upload inputs. Replicas have the uploads in their store
/// instead, so that each of them can read them.
package struct ImportFolder: Sendable {
  /// In bytes: enough for some ten million receipts.
  private static let maxInputSize: Int64 = 256 << 30
  static let uploadPrefix = "upload-"
  /// Stands between the id of an upload, which cannot contain it, and the app.
  private static let appSeparator: Character = "@"

  let path: String
  /// `nil`: uploads are files of the folder.
  let uploads: (any UploadStore)?

  /// Creates a folder by its path; the first upload creates it on disk. `uploads` has the uploads instead.
  package init(path: String, uploads: (any UploadStore)? = nil) {
    self.uploads = uploads
    self.path = URL(fileURLWithPath: path).standardizedFileURL.path
  }

  /// Returns the path of an input that the operator put into the folder. The name is relative to it or absolute.
  ///
  /// - Throws: ``MigrationError/inputPathNotAllowed(path:folder:)``, ``MigrationError/inputIsUpload(_:)``,
  ///   ``MigrationError/inputNotFound(_:)``, ``MigrationError/inputUnreadable(_:)``.
  func input(_ name: String) throws(MigrationError) -> String {
    let input = try file(name)
    // Uploads belong to an app, and the path does not show that the caller may read it.
    guard !Self.isUpload(input) else { throw .inputIsUpload(name) }
    return input
  }

  private static func isUpload(_ path: String) -> Bool {
    let name = URL(fileURLWithPath: path).lastPathComponent
    return name.hasPrefix(uploadPrefix) && name.contains(appSeparator)
  }

  private func file(_ name: String) throws(MigrationError) -> String {
    let folder = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let url = name.hasPrefix("/") ? URL(fileURLWithPath: name) : URL(fileURLWithPath: "\(folder)/\(name)")
    let input = url.resolvingSymlinksInPath().path
    guard input.hasPrefix(folder + "/") else { throw .inputPathNotAllowed(path: name, folder: path) }
    guard size(ofInput: input) != nil else { throw .inputNotFound(name) }
    guard FileManager.default.isReadableFile(atPath: input) else { throw .inputUnreadable(name) }
    return input
  }

  /// Returns the path of an upload of an app; one in the store has its name.
  func upload(_ id: String, of appID: String) throws(MigrationError) -> String {
    let name = try Self.fileName(id, of: appID)
    guard let uploads else { return try file(name) }
    let size: Int64?
    do throws(StoreError) { size = try uploads.size(of: name) } catch { throw .ledger(.store(error)) }
    guard size != nil else { throw .inputNotFound(name) }
    return name
  }

  /// Returns the bytes of an input at a path that ``input(_:)`` or ``upload(_:of:)`` returned.
  func source(ofInput path: String) -> any InputSource {
    if let uploads = uploads(with: path) {
      UploadSource(path: path, uploads: uploads)
    } else {
      InputFileSource(path: path)
    }
  }

  /// Where the input at a path is, if it is not a file.
  private func uploads(with path: String) -> (any UploadStore)? {
    path.hasPrefix("/") ? nil : uploads
  }

  /// The id of the upload at a path that ``upload(_:of:)`` returned.
  static func uploadID(ofPath path: String) -> String {
    let name = URL(fileURLWithPath: path).lastPathComponent.dropFirst(uploadPrefix.count)
    return String(name.prefix { $0 != appSeparator })
  }

  /// The name of the file of an upload. Uploads of different apps never share a file.
  private static func fileName(_ id: String, of appID: String) throws(MigrationError) -> String {
    let app = appID.utf8.map { byte in
      isPlain(byte) ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte])
    }
    return "\(uploadPrefix)\(try checked(id))\(appSeparator)\(app.joined())"
  }

  /// Appends a piece of an upload of an app, unless it was appended before.
  ///
  /// - Returns: the size of the upload in bytes.
  package func append(
    _ data: [UInt8], to id: String, of appID: String, at offset: Int64
  ) throws(MigrationError) -> Int64 {
    let name = try Self.fileName(id, of: appID)
    if let uploads { return try append(data, to: name, in: uploads, at: offset) }
    let file = "\(path)/\(name)"
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      if !FileManager.default.fileExists(atPath: file) {
        _ = FileManager.default.createFile(
          atPath: file, contents: nil, attributes: [.posixPermissions: 0o600])
      }
      let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
      defer { try? handle.close() }
      let size = Int64(try handle.seekToEnd())
      guard try Self.isNew(data, at: offset, size: size) else { return size }
      try handle.write(contentsOf: data)
      try handle.synchronize()
      return size + Int64(data.count)
    } catch let error as MigrationError {
      throw error
    } catch {
      throw .uploadFailed(error.localizedDescription)
    }
  }

  private func append(
    _ data: [UInt8], to name: String, in uploads: any UploadStore, at offset: Int64
  ) throws(MigrationError) -> Int64 {
    let size: Int64
    do throws(StoreError) { size = try uploads.size(of: name) ?? 0 } catch { throw .ledger(.store(error)) }
    guard try Self.isNew(data, at: offset, size: size) else { return size }
    do throws(StoreError) {
      return try uploads.append(data, to: name, at: offset)
    } catch {
      throw .ledger(.store(error))
    }
  }

  /// Whether a piece follows the bytes of an upload; `false` for one that was appended before.
  private static func isNew(
    _ data: [UInt8], at offset: Int64, size: Int64
  ) throws(MigrationError) -> Bool {
    guard offset <= size, offset >= 0 else { throw .uploadOffsetMismatch(size: size) }
    guard offset == size, !data.isEmpty else { return false }
    guard size + Int64(data.count) <= Self.maxInputSize else {
      throw .uploadTooLarge(limit: Self.maxInputSize)
    }
    return true
  }

  /// Deletes an input.
  func delete(_ input: String) {
    if let uploads = uploads(with: input) {
      try? uploads.delete(input)
    } else {
      try? FileManager.default.removeItem(atPath: input)
    }
  }

  /// Returns the size of an input in bytes; `nil` if it is no regular file.
  func size(ofInput input: String) -> Int64? {
    if let uploads = uploads(with: input) { return try? uploads.size(of: input) }
    let attributes = try? FileManager.default.attributesOfItem(atPath: input)
    guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
    return (attributes?[.size] as? NSNumber)?.int64Value
  }

  private static func checked(_ id: String) throws(MigrationError) -> String {
    guard id.utf8.allSatisfy(isPlain), (1...64).contains(id.utf8.count) else { throw .invalidUploadID }
    return id
  }

  /// Whether a byte is a letter, a digit, a dot, a dash or an underscore.
  private static func isPlain(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
  }
}

/// The reason why a request about migration jobs failed.
package enum MigrationError: Error, Hashable, Sendable {
  case unknownMigration(String)
  /// The job still runs.
  case migrationRunning(String)
  /// The input is outside of the import folder.
  case inputPathNotAllowed(path: String, folder: String)
  /// The path is that of an upload, which callers name by its id.
  case inputIsUpload(String)
  case inputNotFound(String)
  /// The server may not read the file.
  case inputUnreadable(String)
  /// The upload id is too long or has characters that are not allowed.
  case invalidUploadID
  /// The offset is not the size of the upload so far.
  case uploadOffsetMismatch(size: Int64)
  case uploadTooLarge(limit: Int64)
  /// The file cannot be written.
  case uploadFailed(String)
  case concurrencyTooHigh(limit: Int)
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
    case .uploadTooLarge(let limit): "the upload exceeds \(limit) bytes"
    case .uploadFailed(let problem): "writing the upload failed: \(problem)"
    case .concurrencyTooHigh(let limit): "concurrency is above \(limit)"
    case .ledger(let error): error.description
    }
  }
}
