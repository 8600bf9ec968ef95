internal import Bytes
internal import Foundation
internal import Ledger
package import Store

/// The only folder from which jobs read, and to which callers upload inputs. Replicas have the uploads in their store
/// instead, so that each of them can read them.
package struct ImportFolder: Sendable {
  /// The beginning of the names of all uploads.
  static let uploadPrefix = "upload-"
  /// The character between the id of an upload, which cannot contain it, and the app.
  private static let appSeparator: Character = "@"

  /// Absolute, without `.` and `..`; symbolic links are not resolved.
  let path: String
  /// `nil`: uploads are files of the folder.
  let uploads: (any UploadStore)?
  /// The maximum bytes of all uploads of an app.
  let maxUploadBytes: Int64

  /// Creates a folder by its path; the first upload creates it on disk. `uploads` has the uploads instead.
  package init(
    path: String, uploads: (any UploadStore)? = nil, maxUploadBytes: Int64 = Self.standardUploadBytes
  ) {
    self.uploads = uploads
    self.maxUploadBytes = maxUploadBytes
    self.path = URL(fileURLWithPath: path).standardizedFileURL.path
  }

  /// Returns the path of an input that the operator put into the folder. The name is relative to it or absolute. With
  /// `appID`, the input is in the folder of that app within it.
  ///
  /// - Throws: ``MigrationError/inputPathNotAllowed(path:folder:)``, ``MigrationError/inputIsUpload(_:)``,
  ///   ``MigrationError/inputNotFound(_:)``, ``MigrationError/inputUnreadable(_:)``.
  func input(_ name: String, onlyOf appID: String? = nil) throws(MigrationError) -> String {
    let input = try file(name, in: appID)
    // Uploads belong to an app, and the path does not show that the caller may read it.
    guard !Self.isUpload(input) else { throw .inputIsUpload(name) }
    return input
  }

  /// Whether the path has the name of an upload.
  private static func isUpload(_ path: String) -> Bool {
    let name = name(ofPath: path)
    return name.hasPrefix(uploadPrefix) && name.contains(appSeparator)
  }

  /// Returns the path of a readable regular file of the folder or of a folder in it, with symbolic links resolved, so that none
  /// leads out of the folder.
  private func file(_ name: String, in subfolder: String? = nil) throws(MigrationError) -> String {
    let folder = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let permitted = subfolder.map { "\(folder)/\($0)" } ?? folder
    let url = name.hasPrefix("/") ? URL(fileURLWithPath: name) : URL(fileURLWithPath: "\(folder)/\(name)")
    let input = url.resolvingSymlinksInPath().path
    guard input.hasPrefix(permitted + "/") else {
      throw .inputPathNotAllowed(path: name, folder: subfolder.map { "\(path)/\($0)" } ?? path)
    }
    guard size(ofInput: input) != nil else { throw .inputNotFound(name) }
    guard FileManager.default.isReadableFile(atPath: input) else { throw .inputUnreadable(name) }
    return input
  }

  /// Returns the path of an upload of an app; one in the store has its name.
  ///
  /// - Throws: ``MigrationError/invalidUploadID``, ``MigrationError/inputNotFound(_:)``, ``MigrationError/ledger(_:)``.
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

  /// The store of the input with a path; `nil` for a file.
  private func uploads(with path: String) -> (any UploadStore)? {
    path.hasPrefix("/") ? nil : uploads
  }

  /// The id of the upload at a path that ``upload(_:of:)`` returned.
  static func uploadID(ofPath path: String) -> String {
    let name = name(ofPath: path).dropFirst(uploadPrefix.count)
    return String(name.prefix { $0 != appSeparator })
  }

  /// The last component of a path.
  static func name(ofPath path: String) -> String { URL(fileURLWithPath: path).lastPathComponent }

  /// The name of the file of an upload. Uploads of different apps never share a file.
  static func fileName(_ id: String, of appID: String) throws(MigrationError) -> String {
    "\(uploadPrefix)\(try checked(id))\(suffix(ofUploadsOf: appID))"
  }

  /// The end of the names of all uploads of an app, and of no others.
  static func suffix(ofUploadsOf appID: String) -> String {
    let app = appID.utf8.map { byte in
      isPlain(byte) ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte])
    }
    return "\(appSeparator)\(app.joined())"
  }

  /// Appends the part of a piece of an upload of an app that is beyond its size. Pieces must come in order: the bytes
  /// below the size count as appended before, and a piece that begins beyond it is refused. A file is durable on return.
  ///
  /// - Returns: the size of the upload in bytes.
  /// - Throws: ``MigrationError/noRoomForUpload(limit:)``, ``MigrationError/uploadOffsetMismatch(size:)``,
  ///   ``MigrationError/uploadFailed(_:)`` and those of the id and the store.
  package func append(
    _ data: [UInt8], to id: String, of appID: String, at offset: Int64
  ) throws(MigrationError) -> Int64 {
    let name = try Self.fileName(id, of: appID)
    if let uploads { return try append(data, to: name, of: appID, in: uploads, at: offset) }
    let file = "\(path)/\(name)"
    let size = size(ofInput: file)
    let new = try Self.newBytes(of: data, at: offset, size: size ?? 0)
    guard !new.isEmpty || size == nil else { return size ?? 0 }
    try requireRoom(for: new.count, in: name, of: appID)
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
      // Another call may have appended meanwhile.
      let new = try Self.newBytes(of: data, at: offset, size: size)
      guard !new.isEmpty else { return size }
      try handle.write(contentsOf: new)
      try handle.synchronize()
      return size + Int64(new.count)
    } catch let error as MigrationError {
      throw error
    } catch {
      throw .uploadFailed(error.localizedDescription)
    }
  }

  /// Appends a piece to an upload in the store.
  private func append(
    _ data: [UInt8], to name: String, of appID: String, in uploads: any UploadStore, at offset: Int64
  ) throws(MigrationError) -> Int64 {
    let size: Int64
    do throws(StoreError) { size = try uploads.size(of: name) ?? 0 } catch { throw .ledger(.store(error)) }
    let new = try Self.newBytes(of: data, at: offset, size: size)
    guard !new.isEmpty else { return size }
    try requireRoom(for: new.count, in: name, of: appID)
    do throws(StoreError) {
      return try uploads.append(Array(new), to: name, at: size)
    } catch {
      throw .ledger(.store(error))
    }
  }

  /// The end of a piece that an upload of this size does not have; empty for a piece that was appended before.
  private static func newBytes(
    of data: [UInt8], at offset: Int64, size: Int64
  ) throws(MigrationError) -> ArraySlice<UInt8> {
    guard offset <= size, offset >= 0 else { throw .uploadOffsetMismatch(size: size) }
    return data.dropFirst(Int(size - offset))
  }

  /// Deletes an input. An error is ignored, because the quota counts what is left.
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

  /// The id, if it has 1 to 64 plain characters.
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
