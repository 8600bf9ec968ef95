import Foundation
import SignedData
import Testing

@Suite struct PasswordFileTests {
  private let path = FileManager.default.temporaryDirectory.appending(path: "password-\(UUID())").path

  private func create(mode: Int) {
    _ = FileManager.default.createFile(
      atPath: path, contents: Data("secret".utf8), attributes: [.posixPermissions: mode])
    try? FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  private func remove() { try? FileManager.default.removeItem(atPath: path) }

  @Test(
    "A password file of another user may be readable for all, as Compose and Kubernetes provide it",
    arguments: [0o400, 0o440, 0o444, 0o644])
  func given(mode: Int) throws {
    create(mode: mode)
    defer { remove() }
    try PasswordFile.check(path, user: geteuid() + 1)
  }

  @Test("A password file of another user that others can write is refused", arguments: [0o664, 0o646, 0o666])
  func writable(mode: Int) {
    create(mode: mode)
    defer { remove() }
    #expect(throws: PrivateKeyFileError.accessibleToOthers(path: path, mode: UInt32(mode))) {
      try PasswordFile.check(path, user: geteuid() + 1)
    }
  }

  @Test(
    "A password file of the service's user must be readable by it only", arguments: [0o440, 0o404, 0o444])
  func own(mode: Int) throws {
    create(mode: mode)
    defer { remove() }
    #expect(throws: PrivateKeyFileError.accessibleToOthers(path: path, mode: UInt32(mode))) {
      try PasswordFile.check(path)
    }
    create(mode: 0o600)
    try PasswordFile.check(path)
  }

  @Test("A missing password file and a directory are refused")
  func unreadable() {
    #expect(throws: PrivateKeyFileError.self) { try PasswordFile.check(path) }
    #expect(throws: PrivateKeyFileError.self) {
      try PasswordFile.check(FileManager.default.temporaryDirectory.path)
    }
  }
}
