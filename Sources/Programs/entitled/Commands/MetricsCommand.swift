internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled metrics`.
struct MetricsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Show subscriptions per day and product.",
    discussion: "Example: entitled metrics --from 2026-01-01 --to 2026-01-31")

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  @Option(help: "First day.") var from: String
  @Option(help: "Last day.") var to: String
  @Option(help: "Product id; repeatable (default: all).") var product: [String] = []

  func run() async throws {
    var request = GetSubscriptionMetricsRequest.with { $0.productIds = product }
    request.app = try await scope.app.id(client)
    request.environment = try scope.appEnvironment()
    request.from = try TimeOption.parse(from, "--from")
    request.to = try TimeOption.parse(to, "--to", day: .end)
    let response = try await client.withConnection { [request] in
      try await $0.getSubscriptionMetrics(request)
    }
    client.showList(response, response.days.map(\.row), empty: "no subscriptions in these days")
  }
}

extension DailyMetrics {
  fileprivate var row: (String, String) {
    let counts: [(String, Int64)] = [
      ("active", active), ("in trial", inTrial), ("in grace period", inGracePeriod),
      ("in billing retry", inBillingRetry), ("started", started), ("converted", convertedFromTrial),
      ("churned voluntarily", churnedVoluntarily), ("churned involuntarily", churnedInvoluntarily),
      ("churned otherwise", churnedOtherwise), ("recovered in grace", recoveredInGracePeriod),
      ("recovered later", recoveredAfterGracePeriod), ("refunded", refunded), ("at risk", atRisk),
    ]
    let shown = counts.filter { $0.0 == "active" || $0.1 > 0 }.map { "\($0.1) \($0.0)" }
    return ("\(day.date)  \(productId)", (shown + proceeds.map(\.text)).joined(separator: ", "))
  }
}

extension Money {
  /// The amount with its currency, such as `4.99 USD`.
  var text: String { "\(Double(milliunits) / 1_000) \(currency)" }
}
