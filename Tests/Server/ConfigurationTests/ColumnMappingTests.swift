import Configuration
import CustomerImport
import Testing

/// The mapping file of `entitled import csv`.
@Suite struct ColumnMappingTests {
  @Test("All keys are read")
  func keys() throws {
    let mapping = try ColumnMapping(
      yaml: """
        separator: tab
        list_separator: "|"
        default_store: play
        columns: {customer_id: user, aliases: [device, mail], purchase_id: token}
        attributes: {plan: plan_name}
        attribute_objects: [extra]
        stores: {itunes: app_store}
        entitlements: {premium: pro}
        """, file: "map.yaml")
    #expect(mapping.separator == 9 && mapping.listSeparator == "|" && mapping.defaultStore == "play")
    #expect(mapping.columns[.aliases] == ["device", "mail"] && mapping.columns[.customerID] == ["user"])
    #expect(mapping.attributes == ["plan": "plan_name"] && mapping.attributeObjects == ["extra"])
    #expect(mapping.stores == ["itunes": "app_store"] && mapping.entitlements == ["premium": "pro"])
  }

  @Test(
    "An error names the file and line",
    arguments: [
      ("columns: {store: s}", "map.yaml:1: columns has no customer_id"),
      ("", "map.yaml: the mapping is empty"),
      ("a: 1", "map.yaml:1: the mapping: unknown key 'a'; known: "),
      ("columns:\n  customer: x", "map.yaml:2: columns: unknown key 'customer'; known: "),
      (
        "columns: {customer_id: x}\nseparator: ab",
        "map.yaml:2: separator of the mapping is not one ASCII character"
      ),
    ])
  func errors(_ yaml: String, _ message: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try ColumnMapping(yaml: yaml, file: "map.yaml") }
    #expect(error?.description.hasPrefix(message) == true, "\(String(describing: error))")
  }
}
