internal import AppStore
internal import Markup
internal import Pages
internal import Sandbox

/// The products of the app, with a form for each.
enum ShopPage {
  /// `GET …/shop`. `account` is the buyer; without one, a purchase creates an account.
  static func page(_ visit: Visit) async -> Page {
    let products = await visit.simulator.productViews(of: visit.app.id)
    let account = visit.value("account") ?? ""
    let accounts = await visit.simulator.accountViews(in: visit.app.id, limit: 100).views
    let body: Markup = """
      <h1>\(Text.shop)</h1>
      <p>\(Text.shopHint)</p>
      \(Part.accountOptions(accounts))
      \(products.isEmpty ? Part.empty(Text.noProducts) : "<div class=\"cards\">\n\(products.map { card($0, account, visit) })</div>")
      <h2>\(Text.sameAsCommand)</h2>
      \(Part.commands(both: Part.command(.action(.purchases), [("productId", products.first?.product.productId ?? "…"), ("account", account.given ?? "…")], visit)))
      """
    return Page(title: Text.shop, section: .shop, body: body)
  }

  private static func card(_ view: ProductView, _ account: String, _ visit: Visit) -> Markup {
    let product = view.product
    // Ids of elements must not depend on what a product id contains.
    let id = "p\(visit.app.products.firstIndex { $0.productId == product.productId } ?? 0)"
    let isSubscription = product.type == .autoRenewableSubscription
    let canBuy = view.price != nil && !view.isWithdrawn && (!isSubscription || product.period != nil)
    let facts = [
      view.priceText,
      product.type.rawValue,
      isSubscription ? Text.group(product.subscriptionGroupIdentifier ?? "–", product.level) : nil,
      view.isShareable ? Text.shareable : nil, view.isWithdrawn ? Text.withdrawn : nil,
    ].compactMap { $0 }.joined(separator: " · ")
    return """
      <section class="card \(canBuy ? "full" : "ended")"><h2>\(Format.name(product.productId))</h2>
      <p class="meta">\(facts)</p>
      \(canBuy ? form(view, account, id, visit) : "<p>\(Text.cannotBuy)</p>")
      </section>

      """
  }

  private static func form(_ view: ProductView, _ account: String, _ id: String, _ visit: Visit) -> Markup {
    let product = view.product
    let isRepeatable = product.type == .consumable || product.type == .nonRenewingSubscription
    var fields = [
      text("account", Text.field("account"), account, id, " list=\"accounts\""),
      text("appAccountToken", Text.field("appAccountToken"), "", id, ""),
    ]
    if isRepeatable {
      fields.append(text("quantity", Text.field("quantity"), "1", id, " inputmode=\"numeric\""))
    }
    if !view.offers.isEmpty {
      let offers = view.offers.map { offer in (value: offer.id, text: Text.offer(offer)) }
      fields.append(select("offer", Text.field("offer"), [("", Text.none)] + offers, id))
    }
    if let monthly = view.monthlyPrice {
      fields.append(
        select(
          "billingPlanType", Text.field("billingPlanType"),
          [("", Text.upfront), (BillingPlan.monthly.rawValue, Text.monthly(Format.money(monthly)))], id))
    }
    let seats: Markup =
      product.type == .autoRenewableSubscription
      ? """
      <details><summary>\(Text.seats)</summary>
      \(text("seats", Text.field("seats"), "", id, " inputmode=\"numeric\""))
      \(select("organization", Text.field("organization"), [("", Text.no), ("true", Text.yes)], id))</details>
      """ : ""
    return """
      <form class="form" method="post" action="\(visit.form(.action(.purchases)))">
      <input type="hidden" name="productId" value="\(product.productId)">
      \(fields)\(seats)
      \(select("askToBuy", Text.field("askToBuy"), [("", Text.no), ("true", Text.yes)], id))
      <p class="row"><button class="primary">\(Text.buyProduct(product.productId))</button></p>
      </form>
      """
  }

  private static func text(
    _ name: String, _ label: String, _ value: String, _ id: String, _ more: Markup
  ) -> Markup {
    """
    <label for="\(id)-\(name)">\(label)</label>
    <input type="text" id="\(id)-\(name)" name="\(name)" value="\(value)" autocomplete="off" spellcheck="false"\(more)>

    """
  }

  private static func select(
    _ name: String, _ label: String, _ values: [(value: String, text: String)], _ id: String
  ) -> Markup {
    let options = values.map { "<option value=\"\($0.value)\">\($0.text)</option>" as Markup }
    return """
      <label for="\(id)-\(name)">\(label)</label>
      <select id="\(id)-\(name)" name="\(name)">\(options)</select>

      """
  }
}
