internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The refunds that Apple reports for the Apple Accounts of a customer, on demand: each look calls Apple, and stores what
/// Apple returns. A script puts the answer into the customer's page; without scripts, it is a separate page.
enum RefundHistoryPage {
  /// The id of the part that the answer replaces.
  private static let place = "refund-history"
  /// The most Apple Accounts that are looked up; a merged customer may have several.
  private static let maxAccounts = 5
  /// The most pages of Apple's answer about one Apple Account. Apple puts at most 20 refunds on a page.
  private static let maxPages = 5

  /// The part of the customer's page with the button; empty if the call would be refused or there is no purchase.
  static func section(_ data: CustomerData, _ visit: Visit) -> Markup {
    guard data.pointInTime.asOf == nil, visit.mayCall(Calls.getRefundHistory),
      [.production, .sandbox].contains(data.scope.environment), hasPurchase(data)
    else { return "" }
    return """
      <h3>\(Text.refundHistory)</h3>
      <div id="\(place)" tabindex="-1">
      <form class="row actions" method="post" action="\(data.scope.refundHistory(data.id))" data-into="\(place)">
      <button>\(Text.askForRefunds)</button> <span class="quiet">\(Text.askForRefundsHint)</span></form>
      </div>

      """
  }

  private static func hasPurchase(_ data: CustomerData) -> Bool {
    !data.transactions.isEmpty
      || (try? data.axis.get())?.lanes.contains { $0.kind == .purchase } == true
  }

  /// Apple's answer. An error of Apple or of the configuration takes the place of the list.
  static func page(_ id: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let transactions = try await transactions(of: id, in: scope, visit)
    var page = Page("\(Text.refundHistory): \(id)", in: scope, section: .customers, body: "")
    let answer: Markup
    do throws(Status) {
      answer = list(try await refunds(of: transactions, in: scope, visit), in: scope, visit)
    } catch {
      answer =
        Part.failure(error)
        + (error.reason == noKeyReason ? "<p>\(Text.refundsNeedKey(scope.app))</p>\n" : "")
      page.status = error.code.httpStatus
    }
    page.body = """
      <h1>\(Text.refundHistory)</h1>
      <p>\(scope.customerLink(id))</p>
      <div id="\(place)" tabindex="-1">
      \(answer)</div>
      """
    return page
  }

  private static let noKeyReason = "NO_IN_APP_PURCHASE_KEY"

  /// One transaction of each Apple Account of the customer, newest first. The app transaction id stands for the
  /// account; documents without one count as one account. Purchases that the family shares belong to its members.
  private static func transactions(
    of id: String, in scope: Scope, _ visit: Visit
  ) async throws(Status) -> [String] {
    let customer = try await visit.call(Calls.getCustomer, .about(id, in: scope))
    let own = customer.products.compactMap(\.latestTransaction)
      .filter { $0.inAppOwnershipType != .familyShared }
      .sorted { ($0.purchaseDate?.seconds ?? 0) > ($1.purchaseDate?.seconds ?? 0) }
    var accounts: Set<String> = []
    let newest = own.filter { accounts.insert($0.appTransactionId).inserted }.map(\.transactionId)
    guard newest.isEmpty else { return Array(newest.prefix(maxAccounts)) }
    // Consumables are in the history only.
    let history = try await visit.call(
      Calls.getCustomerHistory,
      .about(id, in: scope) {
        $0.startTime = GoogleProtobuf.Timestamp(CustomerData.firstSales)
      })
    guard let purchase = history.lanes.last(where: { $0.kind == .purchase }) else {
      throw Status(.failedPrecondition, reason: "NO_PURCHASE", Text.refundsNeedPurchase)
    }
    return [purchase.name]
  }

  /// Refunded transactions, each once, and whether Apple has more.
  private struct Refunds {
    var transactions: [Transaction] = []
    /// A transaction whose account has more refunds than are shown.
    var unfinished: String?
  }

  private static func refunds(
    of transactions: [String], in scope: Scope, _ visit: Visit
  ) async throws(Status) -> Refunds {
    var refunds = Refunds()
    var seen: Set<String> = []
    for transaction in transactions {
      var token = ""
      var pages = 0
      repeat {
        let response = try await visit.call(
          Calls.getRefundHistory,
          .about(scope) {
            $0.transactionId = transaction
            $0.pageToken = token
          })
        refunds.transactions += response.transactions.filter { seen.insert($0.transactionId).inserted }
        token = response.nextPageToken
        pages += 1
      } while !token.isEmpty && pages < maxPages
      if !token.isEmpty { refunds.unfinished = transaction }
    }
    refunds.transactions.sort { ($0.revocationDate?.seconds ?? 0) > ($1.revocationDate?.seconds ?? 0) }
    return refunds
  }

  private static func list(_ refunds: Refunds, in scope: Scope, _ visit: Visit) -> Markup {
    let rows = refunds.transactions.map { transaction in
      [
        Format.name(transaction.productId),
        "<a href=\"\(scope.purchase(transaction.originalTransactionId))\">\(transaction.transactionId)</a>",
        Format.time(transaction.purchaseDate), "\(transaction.price.map(Format.money) ?? "")",
        "\(Part.chip(Text.refunded, .none)) \(Format.time(transaction.revocationDate)) \(Text.refund(transaction.revocationType))",
        "\(reason(transaction))",
      ] as [Markup]
    }
    let table =
      rows.isEmpty
      ? Part.empty(Text.noRefunds)
      : Table.markup(
        Text.refundHistory,
        heads: [
          Text.productHead, Text.transaction, Text.bought, Text.price, Text.refundedHead, Text.reason,
        ], rows: rows)
    let more: Markup =
      refunds.unfinished.map { "<p class=\"notice\">\(Text.moreRefunds($0))</p>\n" } ?? ""
    return """
      <p class="quiet">\(Text.appleSaidAt) \(Format.time(visit.now)) <span data-zone>UTC</span>. \
      \(Text.refundsAreStored)</p>
      <div class="cards-on-phones">\(table)</div>
      \(more)
      """
  }

  /// Apple's `revocationReason` in words.
  private static func reason(_ transaction: Transaction) -> String {
    switch transaction.revocationReason {
    case 0: Text.refundedOther
    case 1: Text.refundedForIssue
    case let code?: "\(code)"
    case nil: transaction.revocationReasonRaw
    }
  }
}

extension Scope {
  fileprivate func refundHistory(_ id: String) -> Link { Link(path + ["customers", id, "refunds"]) }
}
