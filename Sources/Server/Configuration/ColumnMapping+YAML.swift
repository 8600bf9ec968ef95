package import CustomerImport

extension ColumnMapping {
  /// Reads the mapping file of `entitled import csv`.
  ///
  /// - Throws: ``ConfigurationError`` with the file and line of the first error.
  package static func load(path: String) throws(ConfigurationError) -> ColumnMapping {
    try ColumnMapping(yaml: try ConfigurationFile.text(path), file: path)
  }

  /// Parses a mapping that was read from `file`, which errors name. `columns` needs at least `customer_id`; a field may
  /// have several columns, of which the first one that is not empty counts.
  ///
  /// - Throws: ``ConfigurationError`` for the first problem, with the file and its line; an unknown key is one.
  package init(yaml: String, file: String) throws(ConfigurationError) {
    self.init()
    let root = try ConfigurationFile.root(yaml: yaml, file: file, name: "the mapping")
    let members = try root.members([
      "separator", "list_separator", "columns", "attributes", "attribute_objects", "default_store", "stores",
      "entitlements",
    ])
    for (name, node) in try members.required("columns").entries() {
      guard let field = Field(rawValue: name) else {
        let known = Field.allCases.map(\.rawValue).joined(separator: ", ")
        throw node.error("columns: unknown key '\(name)'; known: \(known)")
      }
      columns[field] = node.isList ? try node.texts() : [try node.text()]
    }
    guard columns[.customerID] != nil else { throw root.error("columns has no customer_id") }
    if let node = members["separator"] {
      let text = try node.text() == "tab" ? "\t" : node.text()
      guard let byte = text.utf8.first, text.utf8.count == 1 else {
        throw node.error("\(node.name) is not one ASCII character, nor tab")
      }
      separator = byte
    }
    if let node = members["list_separator"] {
      let text = try node.text()
      guard let character = text.first, text.count == 1 else {
        throw node.error("\(node.name) is not one character")
      }
      listSeparator = character
    }
    defaultStore = try members["default_store"]?.text() ?? defaultStore
    attributeObjects = try members["attribute_objects"]?.texts() ?? []
    attributes = try members["attributes"].map(Self.texts) ?? [:]
    stores = try members["stores"].map(Self.texts) ?? [:]
    entitlements = try members["entitlements"].map(Self.texts) ?? [:]
  }

  private static func texts(_ node: ConfigurationNode) throws(ConfigurationError) -> [String: String] {
    var texts: [String: String] = [:]
    for (key, value) in try node.entries() { texts[key] = try value.text() }
    return texts
  }
}
