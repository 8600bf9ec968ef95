internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The tables of a customer's page.
enum CustomerSections {
  /// The purchases, each with its state at the page's point in time, from its history.
  static func purchases(_ data: CustomerData, _ visit: Visit) -> Markup {
    let head: Markup = "<h2 id=\"purchases\">\(Text.purchases)</h2>"
    let history: GetCustomerHistoryResponse
    do throws(Status) { history = try data.history.get() } catch { return head + Part.failure(error) }
    let instant = data.pointInTime.asOf ?? data.now
    let lanes = history.lanes.filter { $0.kind == .purchase || $0.kind == .shared }
    let inForce = lanes.filter { lane in lane.segments.contains { $0.contains(instant) } }
    let others = lanes.filter { !inForce.contains($0) }
    let rows = (inForce.reversed() + others.reversed()).map { purchase($0, at: instant, data, visit) }
    let grants = history.lanes.filter { $0.kind == .grant }.map { grant($0, at: instant, data, visit) }
    let table = Table.markup(
      Text.purchases,
      heads: [
        Text.productHead, Text.state, Text.periodHead, Text.price, Text.renewal, Text.purchase, Text.actions,
      ],
      rows: rows)
    return """
      \(head)
      <div class="cards-on-phones">\(rows.isEmpty ? Part.empty(Text.noPurchases) : table)</div>
      \(grants.isEmpty ? "" : "<h3>\(Text.grants)</h3>\n\(Table.markup(Text.grants, heads: [Text.entitlement, Text.from, Text.to, Text.grantID, Text.evidenceHead, Text.actions], rows: grants))")
      \(consumables(data))
      """
  }

  private static func purchase(_ lane: HistoryLane, at instant: Instant, _ data: CustomerData, _ visit: Visit)
    -> [Markup]
  {
    guard !lane.segments.isEmpty else { return unit(lane, data) }
    let current = lane.segments.last { $0.contains(instant) }
    let latest = current ?? lane.segments.last { ($0.since?.instant).map { $0 <= instant } ?? false }
    let hasAccess = current.map { $0.accessLevel == .full || $0.accessLevel == .limited } ?? false
    let refunded = lane.isEndedByRefund
    let tone: Tone =
      current.map { Tone(reason: $0.reason, entitled: hasAccess) } ?? (refunded ? .none : .ended)
    let state = current.map { Format.words($0.reason) } ?? (refunded ? Text.refunded : Text.over)
    let product = data.customer.products.first { $0.productId == latest?.productId }
    let renewal: Markup
    if data.pointInTime.asOf == nil, let info = product?.renewalInfo, info.originalTransactionId == lane.name
    {
      let price = info.renewalPrice.map { " · \(Format.money($0))" as Markup } ?? ""
      renewal = info.willAutoRenew == true ? "\(Format.time(info.renewalDate))\(price)" : "\(Text.renewalOff)"
    } else {
      renewal = ""
    }
    let role: Markup = lane.kind == .shared ? " \(Part.chip(Text.laneShared, .shared))" : ""
    return [
      "\(Format.name(latest?.productId.given ?? lane.productId))\(role)", Part.chip(state, tone),
      "\(Format.time(latest.flatMap(lane.periodStart))) – \(Format.time(latest?.until))",
      "\(latest?.price.map(Format.money) ?? "")\(latest.map(offer) ?? "")",
      renewal, data.scope.purchaseLink(lane.name),
      data.pointInTime.asOf == nil ? CustomerActions.purchase(lane, product, data, visit) : "",
    ]
  }

  private static func offer(_ period: HistorySegment) -> Markup {
    guard period.offerType != .unspecified else { return "" }
    return "<br><span class=\"quiet\">\(Text.offerOf(Format.value(period.offerType, "OFFER_TYPE_")))</span>"
  }

  /// A purchase that gives nothing for a time, such as a consumable.
  private static func unit(_ lane: HistoryLane, _ data: CustomerData) -> [Markup] {
    let refund = lane.marks.last { $0.type == "REFUNDED" }
    let transaction = data.transactions.first { $0.originalTransactionId == lane.name }
    return [
      Format.name(lane.productId),
      refund == nil ? Part.chip(Text.boughtOnce, .ended) : Part.chip(Text.refunded, .none),
      Format.time(lane.marks.first { $0.type == "PURCHASED" }?.time ?? lane.marks.first?.time),
      "\(transaction?.price.map(Format.money) ?? "")", "",
      data.scope.purchaseLink(lane.name), "",
    ]
  }

  private static func grant(_ lane: HistoryLane, at instant: Instant, _ data: CustomerData, _ visit: Visit)
    -> [Markup]
  {
    let grant = data.customer.grants.first { $0.grantId == lane.name }
    let revocation = lane.marks.last { ["GRANT_REVOKED", "REFUNDED"].contains($0.type) }
    let end = lane.segments.last?.until
    let isRevocable = grant?.isRevocable(at: instant) ?? false
    let actions: Markup =
      data.pointInTime.asOf == nil && isRevocable && ActionName.revoke.isOpen(to: visit)
      ? "<a href=\"\(data.scope.action(.revoke, [("grant", lane.name), ("customer", data.id)]))\">\(Text.revokeThis)</a>"
      : ""
    let evidence = lane.segments.last?.evidenceId ?? 0
    let revoked = revocation?.type == "REFUNDED" ? Text.refunded : Text.revoked
    let ending: Markup =
      revocation == nil
      ? "\(end.map { Format.time($0) } ?? "\(Text.noEnd)")"
      : "\(Format.time(end)) \(Part.chip(revoked, .none))"
    return [
      Format.name(grant?.entitlement ?? ""), Format.time(lane.segments.first?.since),
      ending,
      Format.id(lane.name),
      evidence == 0 ? "" : data.scope.evidenceLink(evidence),
      actions,
    ]
  }

  private static func consumables(_ data: CustomerData) -> Markup {
    guard data.pointInTime.asOf == nil else { return "" }
    var parts: [Markup] = []
    if !data.customer.consumables.isEmpty {
      let rows = data.customer.consumables.map { balance in
        [
          Format.name(balance.productId), "\(balance.purchased)", "\(balance.refunded)",
          "\(max(0, balance.purchased - balance.refunded))",
        ] as [Markup]
      }
      parts.append(
        "<h3>\(Text.consumables)</h3>\n\(Table.markup(Text.consumables, heads: [Text.productHead, Text.bought, Text.refundedHead, Text.leftOfUnits], rows: rows))"
      )
    }
    switch data.fulfillments {
    case .failure(let status): parts.append("<h3>\(Text.fulfillments)</h3>" + Part.failure(status))
    case .success(let response) where !response.purchases.isEmpty:
      let rows = response.purchases.map { purchase in
        [
          Format.name(purchase.transaction?.productId ?? ""),
          purchase.transaction.map {
            "<a href=\"\(data.scope.purchase($0.originalTransactionId))\">\($0.transactionId)</a>"
          } ?? "",
          "\(purchase.units)", Format.time(purchase.transaction?.purchaseDate),
        ] as [Markup]
      }
      parts.append(
        "<h3>\(Text.fulfillments)</h3>\n\(Table.markup(Text.fulfillments, heads: [Text.productHead, Text.transaction, Text.unitsDue, Text.when], rows: rows))"
      )
    default: break
    }
    return parts.joined()
  }

  /// Refund requests, probable family, notes and attributes.
  static func others(_ data: CustomerData, _ visit: Visit) -> Markup {
    "\(refunds(data, visit))\(RefundHistoryPage.section(data, visit))\(family(data))\(notes(data, visit))\(attributes(data, visit))"
  }

  private static func refunds(_ data: CustomerData, _ visit: Visit) -> Markup {
    let head: Markup = "<h2 id=\"refunds\">\(Text.refundRequests)</h2>"
    let consent: Markup =
      data.customer.consumptionConsent.map { consent in
        "<p>\(consent.consented ? Text.consentGiven : Text.consentWithdrawn) \(Format.time(consent.since))</p>\n"
      } ?? ""
    let hint: Markup =
      AppleLink.reportAProblem.map {
        "<p>\(Text.onlyAppleRefunds) <a href=\"\($0)\" rel=\"noreferrer\">reportaproblem.apple.com</a></p>"
      } ?? ""
    switch data.refunds {
    case .failure(let status): return head + Part.failure(status)
    case .success(let response):
      let rows = response.requests.compactMap { $0.known(at: data.pointInTime) }.map {
        RefundRow.cells(
          $0, data.scope, at: data.pointInTime.asOf ?? data.now,
          actions: data.pointInTime.asOf == nil ? RefundRow.answer($0, data.scope, visit) : "")
      }
      guard !rows.isEmpty else { return head + Part.empty(Text.noRefundRequests) + hint + consent }
      return head + hint + consent + Table.markup(Text.refundRequests, heads: RefundRow.heads, rows: rows)
    }
  }

  private static func family(_ data: CustomerData) -> Markup {
    let head: Markup = "<h2 id=\"family\">\(Text.probableFamily)</h2>"
    switch data.family {
    case .failure(let status): return head + Part.failure(status)
    case .success(let response) where response.members.isEmpty: return head + Part.empty(Text.noFamily)
    case .success(let response):
      let rows = response.members.map { member in
        [
          data.scope.customerLink(member.customerId), "\(Text.probably(member.confidence))",
          Format.name(member.grounds.joined(separator: " ")),
          data.scope.purchaseLink(member.originalTransactionId),
        ] as [Markup]
      }
      return head
        + Table.markup(
          Text.probableFamily, heads: [Text.customer, Text.confidence, Text.grounds, Text.purchase],
          rows: rows)
    }
  }

  private static func notes(_ data: CustomerData, _ visit: Visit) -> Markup {
    let head: Markup = "<h2 id=\"notes\">\(Text.notes)</h2>"
    let add: Markup =
      visit.mayCall(Calls.addNote) && data.pointInTime.asOf == nil
      ? "<p class=\"actions\"><a class=\"button\" href=\"\(data.scope.action(.addNote, [("customer", data.id)]))\">\(Text.addNote)</a></p>"
      : ""
    switch data.notes {
    case .failure(let status): return head + Part.failure(status)
    case .success(let response):
      let rows = response.notes.filter { data.pointInTime.includes($0.createdAt) }.map { note in
        let delete: Markup =
          visit.mayCall(Calls.deleteNote) && data.pointInTime.asOf == nil
          ? "<a href=\"\(data.scope.action(.deleteNote, [("customer", data.id), ("id", note.noteId)]))\">\(Text.deleteThis)</a>"
          : ""
        return [Format.time(note.createdAt), Format.name(note.actor), visit.links.note(note.text), delete]
          as [Markup]
      }
      let table =
        rows.isEmpty
        ? Part.empty(Text.noNotes)
        : Table.markup(Text.notes, heads: [Text.when, Text.actor, Text.note, Text.actions], rows: rows)
      return head + table + add
    }
  }

  private static func attributes(_ data: CustomerData, _ visit: Visit) -> Markup {
    let head: Markup = "<h2 id=\"attributes\">\(Text.attributes)</h2>"
    let set: Markup =
      visit.mayCall(Calls.setCustomerAttributes) && data.pointInTime.asOf == nil
      ? "<p class=\"actions\"><a class=\"button\" href=\"\(data.scope.action(.setAttribute, [("customer", data.id)]))\">\(Text.setAttribute)</a></p>"
      : ""
    switch data.attributes {
    case .failure(let status): return head + Part.failure(status)
    case .success(let response) where response.attributes.isEmpty:
      return head + Part.empty(Text.noAttributes) + set
    case .success(let response):
      return head + Table.properties(response.attributes.map { ($0.name, Format.id($0.value)) }) + set
    }
  }
}

extension HistorySegment {
  /// Whether it covers an instant.
  func contains(_ instant: Instant) -> Bool {
    guard let since = since?.instant, since <= instant else { return false }
    return until?.instant.map { instant < $0 } ?? true
  }
}
