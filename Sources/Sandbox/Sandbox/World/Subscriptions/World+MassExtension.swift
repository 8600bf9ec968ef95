internal import AppStore
internal import JSON

/// A request to extend the renewal dates of all subscribers of a product.
struct MassExtension: Hashable, Sendable {
  let requestIdentifier: String
  let app: String
  let productID: String
  /// Empty means all.
  let storefronts: [String]
  /// From 1 to 90.
  let days: Int64
  /// When the renewal dates are extended.
  let due: Instant
  /// `nil` until then.
  var completed: Instant?
  /// The number of subscriptions whose renewal date was extended.
  var succeeded: Int64 = 0
  /// The number of subscriptions that were not eligible.
  var failed: Int64 = 0
}

extension World {
  /// Accepts a request, which takes ``AppSettings/massExtensionTime``. At Apple it takes hours to days (Apple: "Extending
  /// the renewal date for auto-renewable subscriptions").
  mutating func massExtend(_ parameters: Parameters) throws(ActionError) -> Outcome {
    let app = try appID(parameters)
    let product = try find(parameters.string("productId"), of: app)
    let days = try parameters.integer("days", in: 1...90)
    let identifier = try parameters.string("requestIdentifier")
    let storefronts = parameters.json["storefronts"]?.arrayValue?.compactMap(\.stringValue) ?? []
    let due = now.advanced(byMilliseconds: settings[app]?.massExtensionTime ?? 0)
    massExtensions.append(
      MassExtension(
        requestIdentifier: identifier, app: app, productID: product.productId, storefronts: storefronts,
        days: days, due: due))
    if due > now {
      pendingMassExtensions.append(massExtensions.count - 1)
    } else {
      completeMassExtension(massExtensions.count - 1)
    }
    return Outcome(members: [("requestIdentifier", identifier)])
  }

  /// Completes the mass extensions that are due at `instant`.
  mutating func completeMassExtensions(dueAt instant: Instant) {
    for index in pendingMassExtensions where massExtensions[index].due <= instant {
      completeMassExtension(index)
    }
    pendingMassExtensions.removeAll { massExtensions[$0].completed != nil }
  }

  /// Extends the renewal dates of the product's eligible subscribers. The others are counted and announced as failed
  /// (Apple: subtype, `FAILURE`; subscriptionExtensionIneligibleError). Members follow the purchaser.
  private mutating func completeMassExtension(_ index: Int) {
    var request = massExtensions[index]
    for id in lines.keys.sorted() {
      guard let line = lines[id], line.app == request.app, line.productID == request.productID,
        line.isRunning, line.source == nil,
        request.storefronts.isEmpty
          || request.storefronts.contains(accounts[line.account]?.storefront.code ?? "")
      else { continue }
      guard extensionError(of: line) == nil else {
        request.failed += 1
        if let transaction = current(of: line) { notify(.renewalExtension, .failure, about: transaction) }
        continue
      }
      extend(line, days: request.days)
      request.succeeded += 1
    }
    request.completed = now
    massExtensions[index] = request
    post(.renewalExtension, .summary, of: request.app, .massExtension(request))
  }
}
