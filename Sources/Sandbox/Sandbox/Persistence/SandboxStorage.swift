/// Where a sandbox keeps what is to be there again: its certificates, and the journal of what was done.
package struct SandboxStorage: Sendable {
  let files: any StateFiles
  let keeper: any JournalStore

  private init(files: any StateFiles, keeper: any JournalStore) {
    self.files = files
    self.keeper = keeper
  }

  /// A home that is gone with the process.
  package static var memory: SandboxStorage {
    SandboxStorage(files: InMemoryFiles(), keeper: InMemoryJournal())
  }

  /// A directory, which is made if its parent is there. `keeper` opens the journal in it, once it is this process's
  /// alone.
  ///
  /// - Throws: ``SandboxError/inUse(path:)``, ``SandboxError/unusable(path:detail:)``, and what `keeper` throws.
  package init(
    directory path: String, keeper: (_ directory: String) throws(SandboxError) -> any JournalStore
  ) throws(SandboxError) {
    files = try PrivateDirectory(path: path)
    self.keeper = try keeper(path)
  }
}
