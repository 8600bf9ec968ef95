internal import AppStore
internal import JSON

/// Collects what a StoreKit configuration file defines.
struct StoreKitReader {
  let app: String
  private(set) var appAppleID: Int64?
  private(set) var products: [SandboxProduct] = []
  private(set) var settings: [PresetAction] = []
  private(set) var notImported: [String] = []
  private var currency = Storefront.usa.currency

  /// Reads nothing yet.
  init(app: String) { self.app = app }

  /// Reads all of a file. What cannot be used is noted and left out, so that one product does not prevent the others.
  mutating func read(_ file: JSONObject) {
    note(
      unknownIn: file, at: "",
      known: [
        "identifier", "version", "appPolicies", "products", "nonRenewingSubscriptions", "subscriptionGroups",
        "settings",
      ])
    readSettings(file["settings"]?.objectValue ?? [:])
    for (index, value) in (file["products"]?.arrayValue ?? []).enumerated() {
      readProduct(value, at: "products[\(index)]", types: Self.oneTime)
    }
    for (index, value) in (file["nonRenewingSubscriptions"]?.arrayValue ?? []).enumerated() {
      readProduct(value, at: "nonRenewingSubscriptions[\(index)]", types: Self.nonRenewing)
    }
    for (index, value) in (file["subscriptionGroups"]?.arrayValue ?? []).enumerated() {
      readGroup(value.objectValue ?? [:], at: "subscriptionGroups[\(index)]")
    }
  }

  /// Notes a feature that the sandbox lacks.
  mutating func note(_ place: String, _ reason: String) { notImported.append("\(place): \(reason)") }

  /// Notes the members of an object that are not known.
  mutating func note(unknownIn object: JSONObject, at place: String, known: Set<String>) {
    for (name, _) in object where !known.contains(name) {
      note(place.isEmpty ? name : "\(place).\(name)", "unknown member")
    }
  }

  // MARK: Settings

  /// Reads the file's settings; those of Xcode's test environment are noted if they are on.
  private mutating func readSettings(_ json: JSONObject) {
    for (name, value) in json {
      let place = "settings.\(name)"
      switch name {
      case "_applicationInternalID": readAppAppleID(value, at: place)
      case "_storefront":
        let code = value.stringValue ?? ""
        if let storefront = Storefront.known.first(where: { $0.code == code }) {
          currency = storefront.currency
        } else {
          note(place, "the storefront \(code) is not supported; prices are in \(currency)")
        }
      case "_billingGracePeriodEnabled":
        guard value == true else { continue }
        settings.append(PresetAction(.gracePeriod, ["app": .string(app), "days": 16]))
        note(place, "the file has no length of the grace period; it is 16 days, change it with grace-period")
      default: readOtherSetting(name, value, at: place)
      }
    }
  }

  /// Reads the app's Apple id. Xcode writes a text, and an empty one for an app that is not in App Store Connect.
  private mutating func readAppAppleID(_ value: JSONValue, at place: String) {
    guard let number = value.stringValue.flatMap({ Int64($0) }) ?? value.int64Value else { return }
    guard Self.appAppleIDs.contains(number) else { return note(place, "not the Apple id of an app") }
    appAppleID = number
  }

  /// Reports give each product of an app an id with three more digits.
  private static let appAppleIDs: ClosedRange<Int64> = 0...1_000_000_000_000

  /// Notes the settings that change what Xcode's test environment does, if they are turned on.
  private mutating func readOtherSetting(_ name: String, _ value: JSONValue, at place: String) {
    if Self.settingsWithoutEffect.contains(name) { return }
    guard let alternative = Self.alternatives[name] else { return note(place, "unknown member") }
    let isOn =
      switch value {
      case .bool(let flag): flag
      case .number: value.int64Value != 0
      case .array(let values): values.contains { $0.objectValue?["enabled"] == true }
      default: !value.isNull
      }
    if isOn { note(place, alternative) }
  }

  private static let settingsWithoutEffect: Set = [
    "_developerTeamID", "_lastSynchronizedDate", "_locale", "_disableDialogs", "_compatibilityTimeRate",
  ]

  private static let alternatives = [
    "_timeRate": "time passes as the sandbox's clock does; use advance, or the action periods",
    "_failTransactionsEnabled": "set a fault for the call that has to fail",
    "_storeKitErrors": "errors of StoreKit in the app have no counterpart on a server",
    "_askToBuyEnabled": "buy with askToBuy=true",
    "_billingIssuesEnabled": "use the action billing with fails=true",
    "_renewalBillingIssuesEnabled": "use the action billing with fails=true",
  ]

  // MARK: Products

  private static let oneTime: [String: ProductType] = [
    "Consumable": .consumable, "NonConsumable": .nonConsumable,
  ]
  private static let nonRenewing: [String: ProductType] = [
    "NonRenewingSubscription": .nonRenewingSubscription
  ]
  static let productMembers: Set = [
    "displayPrice", "familyShareable", "internalID", "localizations", "productID", "referenceName", "type",
  ]

  /// Reads a product that is no auto-renewable subscription.
  private mutating func readProduct(_ value: JSONValue, at place: String, types: [String: ProductType]) {
    guard let json = value.objectValue, let id = productID(in: json, at: place) else { return }
    let name = json["type"]?.stringValue ?? ""
    guard let type = types[name] ?? (json["type"] == nil && types.count == 1 ? types.values.first : nil)
    else {
      return note("\(place).type", "the type '\(name)' is not supported, so \(id) is not sold")
    }
    note(unknownIn: json, at: place, known: Self.productMembers)
    add(
      SandboxProduct(productId: id, type: type, price: price(in: json, at: place), currency: currency), json)
  }

  /// Reads the subscriptions of a group; the group's id, or its name without one, becomes the id here.
  private mutating func readGroup(_ json: JSONObject, at place: String) {
    note(unknownIn: json, at: place, known: ["id", "localizations", "name", "subscriptions"])
    let group = json["id"]?.stringValue ?? json["name"]?.stringValue
    for (index, value) in (json["subscriptions"]?.arrayValue ?? []).enumerated() {
      readSubscription(value, of: group, at: "\(place).subscriptions[\(index)]")
    }
  }

  /// Reads a subscription with its offers.
  private mutating func readSubscription(_ value: JSONValue, of group: String?, at place: String) {
    guard let json = value.objectValue, let id = productID(in: json, at: place) else { return }
    guard let period = json["recurringSubscriptionPeriod"]?.stringValue.flatMap({ Period($0) }) else {
      return note("\(place).recurringSubscriptionPeriod", "no period such as P1M, so \(id) is not sold")
    }
    note(
      unknownIn: json, at: place,
      known: Self.productMembers.union([
        "adHocOffers", "codeOffers", "groupNumber", "introductoryOffer", "recurringSubscriptionPeriod",
        "subscriptionGroupID", "winbackOffers",
      ]))
    add(
      SandboxProduct(
        productId: id, type: .autoRenewableSubscription,
        subscriptionGroupIdentifier: group ?? json["subscriptionGroupID"]?.stringValue,
        level: json["groupNumber"]?.int64Value.map { Int(clamping: max(1, $0)) } ?? 1, period: period,
        price: price(in: json, at: place), currency: currency), json)
    readOffers(of: id, json, at: place)
  }

  /// Adds a product, and turns Family Sharing on if the file does.
  private mutating func add(_ product: SandboxProduct, _ json: JSONObject) {
    products.append(product)
    guard json["familyShareable"] == true else { return }
    settings.append(
      PresetAction(
        .shareable, ["app": .string(app), "productId": .string(product.productId), "enabled": true]))
  }

  /// Adds an action that the world performs when it begins.
  mutating func add(_ setting: PresetAction) { settings.append(setting) }

  /// The id of a product that is not read yet; `nil` with a note otherwise.
  private mutating func productID(in json: JSONObject, at place: String) -> String? {
    guard let id = json["productID"]?.stringValue, !id.isEmpty else {
      note("\(place).productID", "a product without id is not sold")
      return nil
    }
    guard !products.contains(where: { $0.productId == id }) else {
      note("\(place).productID", "\(id) is in the file twice; the first one is sold")
      return nil
    }
    return id
  }

  /// The price in thousandths; `nil` with a note if it is no decimal number.
  mutating func price(in json: JSONObject, at place: String) -> Int64? {
    let text = json["displayPrice"]?.stringValue ?? json["displayPrice"]?.text ?? ""
    guard let price = Self.thousandths(text) else {
      note("\(place).displayPrice", "'\(text)' is no price such as 9.99")
      return nil
    }
    return price
  }

  /// A decimal number with a point or comma and up to three decimals, in thousandths. It has at most eight digits before
  /// them, so that the price of all seats is a number in every currency.
  static func thousandths(_ text: String) -> Int64? {
    let parts = text.replacing(",", with: ".").split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = parts.first, (1...8).contains(whole.utf8.count) else {
      return nil
    }
    let decimals = parts.count == 2 ? parts[1] : ""
    guard decimals.utf8.count <= 3, (whole + decimals).utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int64(whole + decimals + String(repeating: "0", count: 3 - decimals.utf8.count))
  }
}
