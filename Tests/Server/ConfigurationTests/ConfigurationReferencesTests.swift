import Configuration
import Testing

/// The lines that errors in referenced files get.
@Suite struct ConfigurationReferencesTests {
  private let references = ConfigurationReferences(
    yaml: """
      apps:
        sea:
          in_app_purchase_key: {file: keys/a.p8, key_id: A}
          webhooks:
            crm:
              secret: [{file: /run/crm}, {variable: CRM}]
            crm2:
              secret: {file: /run/crm2}
      tokens:
        keys: keys
      trusted_roots:
        - {certificate: keys/a.p8}
      """, file: "/etc/entitled/entitled.yaml")

  @Test(
    "A problem has the line of the file or variable that it names",
    arguments: [
      ("cannot read the file /etc/entitled/keys/a.p8: missing", 3),
      ("cannot read the file /run/crm: missing", 6),
      ("the environment variable CRM, which is not set", 6),
      ("cannot read the file /run/crm2: missing", 8),
      ("the file /etc/entitled/keys/b.p8 cannot be used", 10),
      ("no key in /etc/entitled/keys: no file ends in .pem", 10),
    ])
  func line(_ problem: String, _ line: Int) {
    #expect(references.line(namedIn: problem) == line)
  }

  @Test("A problem that names none of them has no line")
  func none() {
    #expect(references.line(namedIn: "the key crm of CRM") == nil)
    #expect(ConfigurationReferences(yaml: "a: [", file: "x.yaml").line(namedIn: "a") == nil)
    #expect(ConfigurationReferences(file: "/no/such/file").line(namedIn: "/no/such/file") == nil)
  }
}
