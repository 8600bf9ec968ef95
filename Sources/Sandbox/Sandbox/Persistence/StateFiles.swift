internal import Platform
internal import Synchronization

/// The storage of a sandbox's state: the files of its certificate chain, and the journal.
package struct SandboxStorage: Sendable {
  let files: any StateFiles
  let journal: any JournalStore

  private init(files: any StateFiles, journal: any JournalStore) {
    self.files = files
    self.journal = journal
  }

  /// Storage in memory, which is lost when the process ends.
  package static var memory: SandboxStorage {
    SandboxStorage(files: InMemoryFiles(), journal: InMemoryJournal())
  }

  /// Storage in memory with the certificate chain of `other`, so that the documents of both have the same root.
  static func memory(besides other: AppStoreSimulator) -> SandboxStorage {
    SandboxStorage(files: other.files, journal: InMemoryJournal())
  }

  /// Storage in a directory, which is created if it is missing; its parent must exist.
  ///
  /// `openJournal` opens the journal in the directory after this process has locked it.
  ///
  /// - Throws: ``SandboxError/inUse(path:)``, ``SandboxError/unusable(path:detail:)``, and the errors of
  ///   `openJournal`.
  package init(
    directory path: String, openJournal: (_ directory: String) throws(SandboxError) -> any JournalStore
  ) throws(SandboxError) {
    files = try DirectoryFiles(path: path)
    journal = try openJournal(path)
  }
}

extension SandboxStorage {
  /// The files of a directory, which this process locks.
  static func files(in path: String) throws(SandboxError) -> any StateFiles { try DirectoryFiles(path: path) }
}

/// The files of the certificate chain, which contain private keys in PEM.
protocol StateFiles: Sendable {
  /// The directory's path, for error texts.
  var path: String { get }
  /// Returns the content of a file as text, or `nil` if it does not exist.
  func read(_ name: String) throws(SandboxError) -> String?
  /// Replaces a file as a whole, or leaves it unchanged if an error is thrown.
  func write(_ name: String, _ content: some Collection<UInt8>) throws(SandboxError)
}

/// Files in a directory that this process has locked.
private struct DirectoryFiles: StateFiles {
  private let directory: PrivateDirectory

  var path: String { directory.path }

  init(path: String) throws(SandboxError) {
    do { directory = try PrivateDirectory(path) } catch { throw SandboxError(error) }
  }

  func read(_ name: String) throws(SandboxError) -> String? {
    do {
      return try directory.read(name).map { String(decoding: $0, as: UTF8.self) }
    } catch {
      throw SandboxError(error)
    }
  }

  func write(_ name: String, _ content: some Collection<UInt8>) throws(SandboxError) {
    do { try directory.replace(name, with: content) } catch { throw SandboxError(error) }
  }
}

/// Files that are lost with the process.
private final class InMemoryFiles: StateFiles {
  let path = "memory"
  private let files = Mutex<[String: [UInt8]]>([:])

  func read(_ name: String) -> String? {
    files.withLock { $0[name].map { String(decoding: $0, as: UTF8.self) } }
  }

  func write(_ name: String, _ content: some Collection<UInt8>) {
    let content = Array(content)
    files.withLock { $0[name] = content }
  }
}

extension SandboxError {
  /// The error in the simulator's terms.
  fileprivate init(_ error: PrivateDirectoryError) {
    switch error {
    case .inUse(let path): self = .inUse(path: path)
    case .failed(let path, let reason): self = .unusable(path: path, detail: reason)
    }
  }
}
