import Foundation

/// Third-party material that is not part of the project: `ENTITLED_TESTDATA`, or beside the package.
enum TestData {
  static let folder: URL? = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
      .deletingLastPathComponent()
    let given = ProcessInfo.processInfo.environment["ENTITLED_TESTDATA"] ?? "../shared/testdata"
    let folder = URL(filePath: given, relativeTo: root)
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  static func text(_ path: String) throws -> String {
    guard let folder else { throw CocoaError(.fileNoSuchFile) }
    return try String(contentsOf: folder.appending(path: path), encoding: .utf8)
  }

  /// The bytes that a file has in base64.
  static func decoded(_ path: String) throws -> [UInt8] {
    let data = Data(base64Encoded: try text(path), options: .ignoreUnknownCharacters)
    guard let data else { throw CocoaError(.fileReadCorruptFile) }
    return [UInt8](data)
  }
}
