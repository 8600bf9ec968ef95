internal import Yams

/// Limits what the aliases (`*name`) of a document add to it. Yams shares the values of an alias, so a few nested ones fit
/// in memory, but stand for more values than a process can visit.
struct AliasExpansion {
  /// In values and bytes of texts, for a document of any size.
  private static let allowance = 1_000_000

  private let file: String
  private var rest: Int

  /// Requires that a document of `size` bytes stays within the limit with its aliases written out.
  ///
  /// - Throws: ``ConfigurationError`` with the line of the value that contains the aliases.
  static func require(of root: Node, file: String, size: Int) throws(ConfigurationError) {
    // Without aliases, two values and bytes of texts take at least a byte of the document.
    var expansion = AliasExpansion(file: file, rest: 2 * size + allowance)
    try expansion.visit(root, inLine: 1)
  }

  /// Counts a value and those in it. `line` is the last line of the values around it: what an alias stands for is in
  /// earlier lines.
  private mutating func visit(_ node: Node, inLine line: Int) throws(ConfigurationError) {
    let line = max(line, node.mark?.line ?? 1)
    rest -= 1 + (node.scalar?.string.utf8.count ?? 0)
    guard rest >= 0 else {
      throw .invalid(file: file, line: line, problem: "the aliases ('*') repeat more than a million values")
    }
    for value in node.sequence ?? [] { try visit(value, inLine: line) }
    for (key, value) in node.mapping ?? [:] {
      try visit(key, inLine: line)
      try visit(value, inLine: line)
    }
  }
}
