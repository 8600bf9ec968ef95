internal import Synchronization

/// Where the sandbox keeps what is to be there again: its certificates, and the journal.
protocol StateFiles: Sendable {
  /// What errors call the place.
  var path: String { get }
  /// The content of a file as text, or `nil` if there is no such file.
  func read(_ name: String) throws(SandboxError) -> String?
  /// Replaces a file, or leaves the old one as it was.
  func write(_ name: String, _ content: some Collection<UInt8>) throws(SandboxError)
  /// Adds to the end of a file.
  func append(_ name: String, _ content: some Collection<UInt8>) throws(SandboxError)
  /// The same, and it outlasts a power loss when this returns.
  func appendDurably(_ name: String, _ content: some Collection<UInt8>) throws(SandboxError)
}

/// Files that are gone with the process.
final class FilesInMemory: StateFiles {
  let path = "memory"
  private let files = Mutex<[String: [UInt8]]>([:])

  func read(_ name: String) -> String? {
    files.withLock { $0[name].map { String(decoding: $0, as: UTF8.self) } }
  }

  func write(_ name: String, _ content: some Collection<UInt8>) {
    let content = Array(content)
    files.withLock { $0[name] = content }
  }

  // Nothing reads a journal that ends with the process, and it would only grow.
  func append(_ name: String, _ content: some Collection<UInt8>) {}

  func appendDurably(_ name: String, _ content: some Collection<UInt8>) {}
}
