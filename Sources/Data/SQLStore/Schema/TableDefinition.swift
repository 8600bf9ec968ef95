internal import Store

/// A table of the store, read from the text of its definition, so that maintenance covers every table without a list.
package struct TableDefinition: Hashable, Sendable {
  /// The type of a column's values.
  package enum ValueType: Hashable, Sendable {
    case number, text, bytes
  }

  /// A column, with the table whose key it refers to.
  package struct Column: Hashable, Sendable {
    /// As in SQL; also the name of the column in exports of the store.
    package let name: String
    /// The type of its values; each may be NULL in SQL.
    package let type: ValueType
    /// `nil` if it refers to no table.
    package let reference: String?
  }

  /// As in SQL.
  package let name: String
  /// In the order of the definition.
  package let columns: [Column]
  /// The columns of the primary key; empty without one.
  package let key: [String]
  /// Whether the engine chooses the number of a row that is inserted without one.
  package let isNumbered: Bool

  /// All tables that both engines have.
  package static let all = parse(Version01.coreTables + "\n" + Version01.operationTables)

  /// The tables with data, which a copy of the store has too.
  package static let withData = all.filter { $0.name != "health_probe" }

  /// The names of the columns, separated by commas.
  package var columnList: String { columns.map(\.name).joined(separator: ", ") }

  /// A query of all rows, in the order of the key.
  package var select: String {
    let order = key.isEmpty ? "" : " ORDER BY \(key.joined(separator: ", "))"
    return "SELECT \(columnList) FROM \(name)\(order)"
  }

  /// Reads definitions as this target writes them: each column on a line, followed by its comment.
  static func parse(_ definitions: String) -> [TableDefinition] {
    var tables: [TableDefinition] = []
    var name: String?
    var lines: [String] = []
    for line in definitions.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.starts(with: ["CREATE", "TABLE"]), words.count > 2 {
        // A table in one line is its name, its columns and its options.
        (name, lines) = (String(words[2]), [])
        if let start = line.firstIndex(of: "("), let end = line.lastIndex(of: ")") {
          tables.append(TableDefinition(String(words[2]), [String(line[line.index(after: start)..<end])]))
          name = nil
        }
      } else if let table = name, words.first?.hasPrefix(")") == true {
        tables.append(TableDefinition(table, lines))
        name = nil
      } else {
        lines.append(
          line.split(separator: "--", omittingEmptySubsequences: false).first.map(String.init) ?? "")
      }
    }
    return tables
  }

  private init(_ name: String, _ lines: [String]) {
    var (columns, key, isNumbered): ([Column], [String], Bool) = ([], [], false)
    for line in lines {
      let words = line.split { ", ()".contains($0) }.map(String.init)
      guard let first = words.first else { continue }
      if first == "PRIMARY" {
        key = Array(words.dropFirst(2))
      } else if words.count > 1, let type = ValueType(word: words[1]) {
        let reference = words.firstIndex(of: "REFERENCES").map { words[$0 + 1] }
        columns.append(Column(name: first, type: type, reference: reference))
        guard words.contains("PRIMARY") else { continue }
        (key, isNumbered) = ([first], type == .number)
      }
    }
    self.name = name
    self.columns = columns
    self.key = key
    self.isNumbered = isNumbered
  }
}

extension TableDefinition.ValueType {
  fileprivate init?(word: String) {
    switch word {
    case "INTEGER": self = .number
    case "TEXT": self = .text
    case "BLOB": self = .bytes
    default: return nil
    }
  }
}
