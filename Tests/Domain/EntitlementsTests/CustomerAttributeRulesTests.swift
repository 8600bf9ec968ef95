import Entitlements
import Testing

/// The limits of a customer's attributes.
@Suite struct CustomerAttributeRulesTests {
  @Test(
    "A name has 1 to 64 ASCII letters, digits and four marks",
    arguments: [
      ("plan", true), ("A-z_0.9:x", true), (String(repeating: "n", count: 64), true),
      ("", false), (String(repeating: "n", count: 65), false), ("my plan", false), ("größe", false),
      ("a/b", false),
    ])
  func names(_ name: String, _ isName: Bool) {
    #expect(CustomerAttributeRules.isName(name) == isName)
  }
}
