import Foundation
import SignedData
import Testing

@Suite("Installation key")
struct InstallationKeyTests {
  private func temporaryFile() throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder.appending(path: "entitled.key").path
  }

  @Test("A created key is private, the same when it is read again, and different in each file")
  func creation() throws {
    let path = try temporaryFile()
    let created = try InstallationKey(creatingAt: path).derived(for: "x")
    #expect(try InstallationKey(creatingAt: path).derived(for: "x") == created)
    #expect(try InstallationKey(readingFrom: path).derived(for: "x") == created)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(try InstallationKey(creatingAt: temporaryFile()).derived(for: "x") != created)
    let folder = (path as NSString).deletingLastPathComponent
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["entitled.key"])
  }

  @Test("Keys of different purposes differ")
  func purposes() {
    let key = InstallationKey(bytes: Array(0..<32))
    #expect(key.derived(for: "a") != key.derived(for: "b"))
    #expect(key.derived(for: "a").count == 32)
  }

  @Test("A key that others can read, or that is too short, is refused", arguments: [false, true])
  func refusal(isReadable: Bool) throws {
    let path = try temporaryFile()
    let text = isReadable ? Data(repeating: 1, count: 32).base64EncodedString() : "AAAA"
    try Data(text.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes(
      [.posixPermissions: isReadable ? 0o644 : 0o600], ofItemAtPath: path)
    #expect(throws: PrivateKeyFileError.self) { try InstallationKey(creatingAt: path) }
  }
}
