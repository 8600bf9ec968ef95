internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// One purchase: its transactions, owners, claims, notifications and seats.
enum PurchasePage {
  /// `GET …/purchases/ID`, with the id of any transaction of the purchase.
  ///
  /// - Throws: the status of `GetPurchase`. Without the owner's history, the picture shows the transactions only.
  static func page(_ id: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let purchase = try await visit.call(
      Calls.getPurchase,
      .about(scope) {
        $0.originalTransactionId = id
      })
    let products = purchase.transactions.compactMap { $0.transaction?.productId }
    let path = products.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
    let body: Markup = """
      <h1>\(Text.purchase) \(Format.id(purchase.originalTransactionId))</h1>
      <ul class="facts"><li>\(Format.name(path.joined(separator: " → ")))\(await group(purchase, scope, visit))</li>
      <li><span class="quiet">\(Text.owner)</span> \(owners(purchase, scope))</li>
      \(formerOwners(purchase, scope))\(token(purchase))\(lookup(purchase))</ul>
      \(actions(purchase, scope, visit))
      \(await picture(purchase, scope, visit))
      <h2>\(Text.transactions)</h2>
      \(transactions(purchase, scope))
      <h2>\(Text.renewalInfo)</h2>
      \(renewal(purchase))
      <h2>\(Text.ownership)</h2>
      \(ownership(purchase, scope))
      <h2>\(Text.timeline)</h2>
      \(events(purchase, scope))
      <h2>\(Text.laneApple)</h2>
      \(notifications(purchase, scope))
      \(seats(purchase, scope))
      """
    return Page(
      "\(Text.purchase) \(purchase.originalTransactionId)", in: scope, section: .customers, body: body)
  }

  /// The periods of the purchase, from the history of its owner; without one, from its transactions.
  private static func picture(
    _ purchase: GetPurchaseResponse, _ scope: Scope, _ visit: Visit
  ) async -> Markup {
    let title = Text.pictureOfPurchase(purchase.originalTransactionId)
    guard let owner = purchase.customerIds.first else {
      do throws(Status) {
        let now = try await visit.time(in: scope)
        let lane = Lane(unclaimed: purchase, duration: await duration(of: purchase, scope, visit))
        return picture([lane], at: now, of: purchase)
      } catch {
        return Part.failure(error, of: title)
      }
    }
    let dates = purchase.transactions.compactMap { $0.transaction?.purchaseDate?.instant }
    let answer = await visit.attempt(
      Calls.getCustomerHistory,
      .about(owner, in: scope) {
        $0.startTime = dates.min().map { GoogleProtobuf.Timestamp($0) }
      })
    var history: GetCustomerHistoryResponse
    do throws(Status) { history = try answer.get() } catch { return Part.failure(error, of: title) }
    history.lanes.removeAll { $0.name != purchase.originalTransactionId }
    return picture(Lane.states(history), at: history.asOf?.instant ?? visit.now, of: purchase)
  }

  /// The configured duration of a non-renewing subscription, for which Apple sends no end; `nil` for any other purchase.
  private static func duration(
    of purchase: GetPurchaseResponse, _ scope: Scope, _ visit: Visit
  ) async -> Period? {
    guard let latest = purchase.transactions.last?.transaction, latest.type == .nonRenewingSubscription
    else { return nil }
    return await product(latest.productId, scope, visit).flatMap { Period($0.duration) }
  }

  private static func picture(_ lanes: [Lane], at now: Instant, of purchase: GetPurchaseResponse) -> Markup {
    let starts = lanes.flatMap { $0.bars.map(\.start) + ($0.marks + $0.dots).map(\.at) }
    guard let start = starts.min() else { return "" }
    let title = Text.pictureOfPurchase(purchase.originalTransactionId)
    let picture = LanesPicture(
      lanes: lanes, geometry: LanesGeometry(start: start, now: now), asOf: nil, title: title, id: "lanes")
    return """
      \(picture.legend)
      <div class="lanes" tabindex="0" role="region" aria-label="\(title)">
      \(picture.svg)
      </div>
      """
  }

  private static func transactions(_ purchase: GetPurchaseResponse, _ scope: Scope) -> Markup {
    let rows = purchase.transactions.reversed().map { entry in
      let transaction = entry.transaction ?? Transaction()
      let revoked: Markup =
        transaction.revocationDate.map {
          "\(Part.chip(transaction.isSharingEnded ? Text.markSharingEnded : Text.refunded, .none)) \(Format.time($0)) \(Text.refund(transaction.revocationType))"
        } ?? ""
      let offer =
        transaction.offerType == .unspecified
        ? "" : Format.value(transaction.offerType, "OFFER_TYPE_") + " " + transaction.offerIdentifier
      return [
        Format.id(transaction.transactionId), Format.name(transaction.productId),
        "\(Format.time(transaction.purchaseDate)) – \(Format.time(transaction.expiresDate))",
        "\(transaction.price.map(Format.money) ?? "")", "\(transaction.storefront)", Format.name(offer),
        "\(Format.words(transaction.transactionReason))", revoked,
        entry.evidenceId.map(scope.evidenceLink) ?? "",
      ] as [Markup]
    }
    guard !rows.isEmpty else { return Part.empty(Text.noTransactions) }
    return Table.markup(
      Text.transactions,
      heads: [
        Text.transaction, Text.productHead, Text.periodHead, Text.price, Text.storefront, Text.offer,
        Text.reason, Text.refund,
        Text.evidenceHead,
      ], rows: rows)
  }

  private static func renewal(_ purchase: GetPurchaseResponse) -> Markup {
    let info = purchase.renewalInfo
    // After a refund of the current period, nothing is left of the commitment.
    let latest = purchase.transactions.last?.transaction
    let commitment = latest?.revocationDate == nil ? latest?.commitmentInfo : nil
    guard info != nil || commitment != nil else { return Part.empty(Text.noRenewalInfo) }
    return Table.properties([
      (
        Text.paymentHead,
        commitment.map {
          "\(Text.payment($0.billingPeriodNumber, of: $0.totalBillingPeriods, left: $0.remainingPeriods))"
        }
      ),
      (Text.committedUntil, commitment?.commitmentExpiresDate.map { Format.time($0) }),
      (Text.stillToPay, commitment?.remainingPrice.map { "\(Format.money($0))" }),
      (Text.willRenew, info?.willAutoRenew.map { $0 ? "\(Text.yes)" : "\(Text.no)" }),
      (Text.renewsTo, info?.autoRenewProductId.given.map { Format.name($0) }),
      (Text.renewal, info?.renewalDate.map { Format.time($0) }),
      (Text.price, info?.renewalPrice.map { "\(Format.money($0))" }),
      (Text.graceEnds, info?.gracePeriodExpiresDate.map { Format.time($0) }),
      (Text.inBillingRetry, info?.isInBillingRetryPeriod == true ? "\(Text.yes)" : nil),
      (Text.signedAt, info?.signedDate.map { Format.time($0) }),
    ])
  }

  private static func ownership(_ purchase: GetPurchaseResponse, _ scope: Scope) -> Markup {
    let rows = purchase.ownershipChanges.reversed().map { change in
      [
        Format.time(change.time),
        "\(change.linked ? Text.linked : Text.unlinked) \(scope.customerLink(change.customerId))",
        "\(Text.endOfOwnership(change.kind) ?? Format.words(change.kind))", Format.name(change.actor),
        scope.evidenceLink(change.evidenceId),
      ] as [Markup]
    }
    guard !rows.isEmpty else { return Part.empty(Text.noOwnership) }
    return Table.markup(
      Text.ownership, heads: [Text.when, Text.what, Text.cause, Text.actor, Text.evidenceHead], rows: rows)
  }

  private static func events(_ purchase: GetPurchaseResponse, _ scope: Scope) -> Markup {
    guard !purchase.events.isEmpty else { return Part.empty(Text.noEvents) }
    return Table.markup(
      Text.timeline,
      heads: [
        Text.when, Text.customer, Text.entitlement, Text.what, Text.inWords, Text.actor, Text.eventHead,
      ],
      rows: purchase.events.reversed().map { EventPage.cells($0, scope) })
  }

  private static func notifications(_ purchase: GetPurchaseResponse, _ scope: Scope) -> Markup {
    guard !purchase.notifications.isEmpty else { return Part.empty(Text.noNotifications) }
    return Table.markup(
      Text.laneApple, heads: NotificationRow.heads,
      rows: purchase.notifications.reversed().map { NotificationRow.cells($0, scope) })
  }

  private static func seats(_ purchase: GetPurchaseResponse, _ scope: Scope) -> Markup {
    guard !purchase.seats.isEmpty else { return "" }
    let rows = purchase.seats.map { seat in
      let holder: Markup =
        seat.customerId.isEmpty
        ? "" : scope.customerLink(seat.customerId)
      return [Format.id(seat.seatId), holder, Format.time(seat.claimedAt), Format.time(seat.releasedAt)]
        as [Markup]
    }
    return "<h2>\(Text.seats)</h2>"
      + Table.markup(Text.seats, heads: [Text.seat, Text.customer, Text.from, Text.to], rows: rows)
  }
}

extension Transaction {
  /// Whether its revocation is the end of family sharing. The buyer has no money back then.
  var isSharingEnded: Bool { revocationType == "FAMILY_REVOKE" }
}

extension GetPurchaseResponse {
  /// The token in the latest transaction; `nil`: none.
  var appAccountToken: String? { transactions.last?.transaction?.appAccountToken.given }
}
