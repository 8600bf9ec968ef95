internal import ArgumentParser
internal import JSON
internal import SandboxClient

/// `entitled sandbox buy`.
struct SandboxBuyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "buy", abstract: "Buy a product and print the signed transaction.")

  @OptionGroup var sandbox: SandboxClient
  @OptionGroup var app: SandboxAppOption
  @Option(help: "Apple account (default: a new account).") var account: String?
  @Option(help: "appAccountToken of the purchase, a UUID (default: none).") var appAccountToken: String?
  @Option(help: "Quantity (default: 1).") var quantity: Int?
  @Option(help: "Purchase date, RFC 3339 (default: now).") var purchaseDate: String?
  @Option(help: "Billing plan: BILLED_UPFRONT or MONTHLY (default: BILLED_UPFRONT).") var billingPlanType:
    String?
  @Option(help: "Id of an offer of the product (default: none).") var offer: String?
  @Flag(help: "JSON output.") var json = false
  @Argument(help: "Product id.") var product: String

  func run() async throws {
    let response = try await sandbox.post("purchases", order(try await app.id(in: sandbox)))
    print(json ? response.text : response.json["signedTransactionInfo"]?.stringValue ?? response.text)
  }

  private func order(_ app: String) -> JSONObject {
    var order: JSONObject = ["app": .string(app), "productId": .string(product)]
    if let account { order["account"] = .string(account) }
    if let appAccountToken { order["appAccountToken"] = .string(appAccountToken) }
    if let quantity { order["quantity"] = .number(JSONNumber(Int64(quantity))) }
    if let billingPlanType { order["billingPlanType"] = .string(billingPlanType) }
    if let offer { order["offer"] = .string(offer) }
    if let purchaseDate { order["purchaseDate"] = .string(purchaseDate) }
    return order
  }
}
