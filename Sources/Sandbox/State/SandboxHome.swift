/// Where a sandbox keeps what is to be there again: its certificates, and the journal of what was done.
package struct SandboxHome: Sendable {
  let files: any StateFiles
  let keeper: any JournalKeeper

  private init(files: any StateFiles, keeper: any JournalKeeper) {
    self.files = files
    self.keeper = keeper
  }

  /// A home that is gone with the process.
  package static var memory: SandboxHome { SandboxHome(files: FilesInMemory(), keeper: JournalInMemory()) }

  /// A directory, which is made if its parent is there. `keeper` opens the journal in it, once it is this process's
  /// alone.
  ///
  /// - Throws: ``SandboxError/inUse(path:)``, ``SandboxError/unusable(path:detail:)``, and what `keeper` throws.
  package init(
    directory path: String, keeper: (_ directory: String) throws(SandboxError) -> any JournalKeeper
  ) throws(SandboxError) {
    files = try PrivateDirectory(path: path)
    self.keeper = try keeper(path)
  }
}
