/// The lines at which a configuration names files and environment variables. An error in such a file knows its path only.
package struct ConfigurationReferences {
  /// By absolute path, or `variable NAME`.
  private let lines: [String: Int]

  /// Reads a configuration; one that cannot be parsed has no references.
  package init(file: String) {
    self.init(yaml: (try? ConfigurationFile.text(file)) ?? "", file: file)
  }

  /// Parses a configuration that was read from `file`.
  package init(yaml: String, file: String) {
    let root = try? ConfigurationFile.root(yaml: yaml, file: file)
    lines = Dictionary(root.map(Self.references) ?? [], uniquingKeysWith: min)
  }

  /// Returns the line of the file or variable that an error names. The longest name counts, because a path can begin with
  /// another one.
  package func line(namedIn problem: String) -> Int? {
    lines.filter { problem.contains($0.key) }.max { $0.key.utf8.count < $1.key.utf8.count }?.value
  }

  /// Every scalar counts as a path: an error contains none but those of files.
  private static func references(_ node: ConfigurationNode) -> [(String, Int)] {
    if let entries = try? node.entries() {
      return entries.flatMap { (key, value) -> [(String, Int)] in
        guard key == "variable", let name = try? value.text(), let line = value.line else {
          return references(value)
        }
        return [("variable \(name)", line)]
      }
    }
    if let list = try? node.list() { return list.flatMap(references) }
    guard let path = try? node.path(), let line = node.line else { return [] }
    return [(path, line)]
  }
}
