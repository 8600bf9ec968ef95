internal import Foundation

/// The one folder from which jobs may read, and into which callers put what the server does not see.
package struct ImportFolder: Sendable {
  /// Most that one input may have: some ten million receipts.
  private static let maxInputSize: Int64 = 256 << 30
  private static let uploadPrefix = "upload-"

  private let path: String

  /// A folder, which is made when something is put there.
  package init(path: String) {
    self.path = URL(fileURLWithPath: path).standardizedFileURL.path
  }

  /// The path of an input, relative to the folder or whole.
  ///
  /// - Throws: ``MigrationError/inputOutside(path:folder:)``, ``MigrationError/noInput(_:)``.
  func input(_ name: String) throws(MigrationError) -> String {
    let folder = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let url = name.hasPrefix("/") ? URL(fileURLWithPath: name) : URL(fileURLWithPath: "\(folder)/\(name)")
    let input = url.resolvingSymlinksInPath().path
    guard input.hasPrefix(folder + "/") else { throw .inputOutside(path: name, folder: path) }
    guard FileManager.default.isReadableFile(atPath: input), size(ofInput: input) != nil else {
      throw .noInput(name)
    }
    return input
  }

  /// The path of what was handed over.
  func upload(_ id: String) throws(MigrationError) -> String {
    try input(Self.uploadPrefix + (try checked(id)))
  }

  /// Appends a piece of an upload, unless it was handed over before.
  ///
  /// - Returns: how many bytes there are now.
  package func append(_ data: [UInt8], to id: String, at offset: Int64) throws(MigrationError) -> Int64 {
    let file = "\(path)/\(Self.uploadPrefix)\(try checked(id))"
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
      guard offset <= size, offset >= 0 else { throw MigrationError.gapInUpload(size: size) }
      guard offset == size, !data.isEmpty else { return size }
      guard size + Int64(data.count) <= Self.maxInputSize else {
        throw MigrationError.uploadTooLarge(limit: Self.maxInputSize)
      }
      try handle.write(contentsOf: data)
      try handle.synchronize()
      return size + Int64(data.count)
    } catch let error as MigrationError {
      throw error
    } catch {
      throw .file(error.localizedDescription)
    }
  }

  /// Deletes an input that is not needed any more.
  func delete(_ input: String) { try? FileManager.default.removeItem(atPath: input) }

  /// How many bytes an input has; `nil` if it is no file.
  func size(ofInput input: String) -> Int64? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: input)
    guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
    return (attributes?[.size] as? NSNumber)?.int64Value
  }

  private func checked(_ id: String) throws(MigrationError) -> String {
    let isFit = id.utf8.allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
    }
    guard isFit, (1...64).contains(id.utf8.count) else { throw .invalidUploadID }
    return id
  }
}
