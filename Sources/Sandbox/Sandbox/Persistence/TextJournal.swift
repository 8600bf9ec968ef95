internal import JSON

/// The journal as earlier versions kept it: a text file with one line of JSON for each entry. It is taken in once and
/// then only kept.
struct TextJournal {
  private static let file = "journal"
  private static let fileTakenIn = "journal.taken-in"

  let files: any StateFiles

  /// What errors call it.
  var path: String { "\(files.path)/\(Self.file)" }

  /// Its lines, the oldest first; `nil` if there is no such file. What a crash or a full disk cut short is passed over:
  /// it was never answered.
  func lines() throws(SandboxError) -> [JournalLine]? {
    try files.read(Self.file)?.split(separator: "\n").compactMap { Self.line(String($0)) }
  }

  /// Gives the file another name, so that it is not looked at again.
  func setAside() throws(SandboxError) { try files.rename(Self.file, to: Self.fileTakenIn) }

  private static func line(_ text: String) -> JournalLine? {
    guard var json = try? JSONValue(parsing: text).objectValue, let at = Journal.instant(json["at"]) else {
      return nil
    }
    json["at"] = nil
    guard let entry = Journal.Entry(json) else { return nil }
    return Journal.line(entry, at: at)
  }
}
