internal import Synchronization

/// Where the sandbox keeps its certificates, and where earlier versions kept the journal.
protocol StateFiles: Sendable {
  /// What errors call the place.
  var path: String { get }
  /// The content of a file as text, or `nil` if there is no such file.
  func read(_ name: String) throws(SandboxError) -> String?
  /// Replaces a file, or leaves the old one as it was.
  func write(_ name: String, _ content: some Collection<UInt8>) throws(SandboxError)
  /// Gives a file another name.
  func rename(_ name: String, to other: String) throws(SandboxError)
}

/// Files that are gone with the process.
final class InMemoryFiles: StateFiles {
  let path = "memory"
  private let files = Mutex<[String: [UInt8]]>([:])

  func read(_ name: String) -> String? {
    files.withLock { $0[name].map { String(decoding: $0, as: UTF8.self) } }
  }

  func write(_ name: String, _ content: some Collection<UInt8>) {
    let content = Array(content)
    files.withLock { $0[name] = content }
  }

  func rename(_ name: String, to other: String) {
    files.withLock { files in
      files[other] = files[name]
      files[name] = nil
    }
  }
}
