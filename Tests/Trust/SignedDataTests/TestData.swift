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

  static func bytes(_ path: String) throws -> [UInt8] {
    guard let folder else { throw CocoaError(.fileNoSuchFile) }
    return [UInt8](try Data(contentsOf: folder.appending(path: path)))
  }
}
