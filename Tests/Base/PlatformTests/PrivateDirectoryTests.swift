import Foundation
import Platform
import Testing

@Suite struct PrivateDirectoryTests {
  private let path = FileManager.default.temporaryDirectory.appending(path: "private-\(UUID())/a").path
  private var parent: String { (path as NSString).deletingLastPathComponent }

  @Test("A directory is created for its owner only, with its parents on request")
  func mode() throws {
    defer { remove() }
    #expect(throws: PrivateDirectoryError.failed(path: path, reason: "No such file or directory")) {
      try PrivateDirectory(path)
    }
    _ = try PrivateDirectory(path, createsParents: true)
    for directory in [path, parent] {
      let attributes = try FileManager.default.attributesOfItem(atPath: directory)
      #expect(attributes[.posixPermissions] as? Int == 0o700)
    }
  }

  @Test("A directory is locked until it is released, and leaves no lock file")
  func lock() async throws {
    defer { remove() }
    var directory: PrivateDirectory? = try PrivateDirectory(path, createsParents: true)
    #expect(throws: PrivateDirectoryError.inUse(path: path)) { try PrivateDirectory(path) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    #expect(try directory?.read("missing") == nil)
    directory = nil
    // A program that another test starts shares the lock until it runs.
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .seconds(60))
    repeat {
      await Task.yield()
      directory = try? PrivateDirectory(path)
    } while directory == nil && clock.now < end
    #expect(directory != nil)
  }

  @Test("A replaced file has the new content and is private to its owner")
  func replaced() throws {
    defer { remove() }
    let directory = try PrivateDirectory(path, createsParents: true)
    try directory.replace("state", with: Array("old".utf8))
    try directory.replace("state", with: Array("new".utf8))
    #expect(try directory.read("state") == Array("new".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["state"])
    let attributes = try FileManager.default.attributesOfItem(atPath: path + "/state")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  private func remove() { try? FileManager.default.removeItem(atPath: parent) }
}
