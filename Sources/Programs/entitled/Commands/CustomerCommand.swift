internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled customer`: everything about a customer.
struct CustomerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "customer", abstract: "Tell everything about a customer: entitlements, products, grants.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "Production, Sandbox, Xcode or LocalTesting; else the app's default.") var environment:
    String?
  @Argument(help: "The customer's id.") var customer: String

  func run() async throws {
    let environment = try EnvironmentName.parse(environment)
    let request = GetCustomerRequest.with {
      $0.app = app
      $0.customerId = customer
      $0.environment = environment
    }
    let response = try await client.withConnection { try await $0.getCustomer(request) }
    client.show(response, response.rows)
  }
}

extension GetCustomerResponse {
  fileprivate var rows: [(String, String)] {
    var rows = [("customer", customerId)]
    rows += entitlements.map { ($0.entitlement, $0.summary) }
    rows += products.map { ($0.productId, $0.state.protoName.droppingPrefix("PRODUCT_STATE_").lowercased()) }
    rows += consumables.map { ($0.productId, "\($0.purchased - $0.refunded) of \($0.purchased) left") }
    rows += grants.map { ($0.grantId, "\($0.entitlement), \($0.note)") }
    if let consent = consumptionConsent { rows.append(("consent", consent.summary)) }
    for advice in entitlements.flatMap(\.advice) { rows.append(("advice", advice.message)) }
    return rows
  }
}
