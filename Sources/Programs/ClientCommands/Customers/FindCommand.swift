internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled find`.
struct FindCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find", abstract: "Find customers by any id that you have.",
    discussion: """
      The query is a customer id or its beginning, an appAccountToken, an id of Apple's (transaction, original \
      transaction, web order line item, app transaction, notification), a grant, a transfer, '#12' or 'evidence 12', \
      the value of an attribute, or NAME=VALUE.
      """)

  @OptionGroup var client: ClientOptions

  @Option(help: "App id (default: all apps that you may access).") var app: String?
  @Option(help: "Production, Sandbox, Xcode or LocalTesting (default: all).") var environment: String?

  @Argument(help: "Query.") var query: String

  func run() async throws {
    var request = FindCustomersRequest.with {
      $0.query = query
      $0.app = app ?? ""
    }
    request.environment = try ScopeOptions.appEnvironment(environment)
    let response = try await client.withConnection { try await $0.findCustomers(request) }
    client.showList(response, response.rows, empty: "nothing found for '\(query)'")
  }
}

extension FindCustomersResponse {
  fileprivate var rows: [(String, String)] {
    let rows = hits.map { hit in
      (hit.customerIds.isEmpty ? "-" : hit.customerIds.joined(separator: ", "), hit.explanation)
    }
    return rows + (!nextPageToken.isEmpty ? [("…", "There are more; a longer query finds fewer.")] : [])
  }
}

/// `entitled describe`.
struct DescribeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "describe", abstract: "Describe a customer for support, with the next steps.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Customer id.") var customer: String

  func run() async throws {
    let request: DescribeCustomerRequest = try await options.request { $0.customerId = customer }
    let response = try await options.withConnection { try await $0.describeCustomer(request) }
    options.show(response, response.rows)
  }
}

extension DescribeCustomerResponse {
  fileprivate var rows: [(String, String)] {
    var rows = [("customer", summary)]
    if !mergedCustomerIds.isEmpty { rows.append(("merged", mergedCustomerIds.joined(separator: ", "))) }
    rows += paid.map { ("paid", $0.text) }
    if purchasesWithoutPrice > 0 {
      rows.append(("paid", "\(purchasesWithoutPrice) purchases without a price in Apple's documents"))
    }
    for entitlement in entitlements {
      rows.append((entitlement.entitlement, entitlement.supportSentence))
      rows.append(("  tell", entitlement.customerSentence))
      rows += entitlement.actions.map { ("  do", $0) }
      rows.append(("  link", entitlement.url))
    }
    for request in openRefundRequests {
      rows.append(("refund", "\(request.transactionId), answer by \(request.answerBy.text)"))
    }
    return rows
  }
}

extension PaidTotal {
  fileprivate var text: String {
    let text = (total ?? Money()).text
    guard let refunded, refunded.milliunits != 0 else { return text }
    return "\(text) of \((charged ?? Money()).text); \(refunded.text) refunded"
  }
}
