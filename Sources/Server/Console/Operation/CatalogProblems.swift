internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The problems of a catalog: of its products by themselves, and with what customers bought.
enum CatalogProblems {
  /// The kinds of contradictions that a change of the catalog can end.
  private static let kinds: Set<String> = ["UNKNOWN_PRODUCT", "TYPE_DIFFERS_FROM_CATALOG", "UNKNOWN_TYPE"]

  static func section(_ catalog: GetCatalogResponse, in scope: Scope, _ visit: Visit) async -> Markup {
    let sentences = catalog.products.flatMap(problems).map { "<p class=\"problem\">\($0)</p>\n" as Markup }
    let answer = await visit.attempt(
      Calls.listContradictions,
      .about(scope))
    let head: Markup = "<h2>\(Text.problems)</h2>\n\(sentences)"
    let response: ListContradictionsResponse
    do throws(Status) { response = try answer.get() } catch {
      return head + Part.failure(error, of: Text.queueContradictions)
    }
    let found = response.contradictions.filter { kinds.contains($0.kind) }
    let all: Markup =
      response.contradictions.isEmpty
      ? "" : "<p><a href=\"\(scope.work(.contradictions))\">\(Text.allContradictions)</a></p>"
    guard !found.isEmpty else {
      return head + (sentences.isEmpty ? Part.empty(Text.noProblems) : "") + all
    }
    let rows = found.map { WorkRows.cells($0, scope) }
    return head + Table.markup(Text.problems, heads: WorkQueue.contradictions.heads, rows: rows) + all
  }

  /// The problems of a product without its customers.
  static func problems(_ product: CatalogProduct) -> [String] {
    var problems: [String] = []
    if product.entitlements.isEmpty && product.type != .consumable {
      problems.append(Text.grantsNothing(product.productId))
    }
    if let configured = product.configuredPrice {
      let paid = product.prices.filter { $0.isForNewCustomers }.compactMap(\.price)
        .filter { $0.currency == configured.currency }
      let highest = paid.max { $0.milliunits < $1.milliunits }
      if let highest, !paid.contains(configured) {
        problems.append(
          Text.priceDiffers(product.productId, Format.money(configured), Format.money(highest)))
      }
    }
    return problems
  }
}

extension StorefrontPrice {
  /// Whether new customers pay it for one period in advance, as the configured price is.
  fileprivate var isForNewCustomers: Bool {
    transactionReason == "PURCHASE" && billingPlanType != .monthly
  }
}
