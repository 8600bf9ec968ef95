internal import AppStore
internal import JSON

/// The offers of a subscription in a StoreKit configuration file.
extension StoreKitReader {
  /// A list of offers in the file.
  private struct Kind {
    let member: String
    /// The value of `type` of the action `offers`.
    let type: String
    /// The members that have the identifier, in this order.
    let identifiers: [String]
  }

  private static let lists = [
    Kind(member: "adHocOffers", type: "PROMOTIONAL", identifiers: ["offerID", "internalID"]),
    // An offer code has no identifier in the file; App Store Connect uses its reference name.
    Kind(member: "codeOffers", type: "CODE", identifiers: ["offerID", "referenceName", "internalID"]),
    Kind(member: "winbackOffers", type: "WIN_BACK", identifiers: ["offerID", "internalID"]),
  ]

  private static let modes = [
    "free": OfferDiscountType.freeTrial, "freeTrial": .freeTrial, "payAsYouGo": .payAsYouGo,
    "payUpFront": .payUpFront,
  ]

  private static let offerMembers: Set = [
    "displayPrice", "internalID", "isPreferred", "localizations", "numberOfPeriods", "offerID", "paymentMode",
    "referenceName", "subscriptionPeriod", "type",
  ]

  /// Members that restrict an offer and have no effect here, with the reason.
  private static let unenforced = [
    "eligibility": "every customer may use the offer", "isStackable": "offers are never combined",
  ]

  /// Reads all offers of a product. `place` is the product's.
  mutating func readOffers(of product: String, _ json: JSONObject, at place: String) {
    if let offer = json["introductoryOffer"]?.objectValue {
      readOffer(
        offer, id: "introductory", type: "INTRODUCTORY", of: product, at: "\(place).introductoryOffer")
    }
    for kind in Self.lists {
      for (index, value) in (json[kind.member]?.arrayValue ?? []).enumerated() {
        let place = "\(place).\(kind.member)[\(index)]"
        guard let offer = value.objectValue,
          let id = kind.identifiers.lazy.compactMap({ offer[$0]?.stringValue }).first(where: { !$0.isEmpty })
        else {
          note(place, "an offer without offerID is not sold")
          continue
        }
        readOffer(offer, id: id, type: kind.type, of: product, at: place)
      }
    }
  }

  /// Reads one offer; what cannot be sold is noted and left out.
  private mutating func readOffer(
    _ json: JSONObject, id: String, type: String, of product: String, at place: String
  ) {
    let name = json["paymentMode"]?.stringValue ?? ""
    guard let mode = Self.modes[name] else {
      return note("\(place).paymentMode", "the mode '\(name)' is not supported, so the offer is not sold")
    }
    let periods = json["numberOfPeriods"]?.int64Value ?? 1
    guard let period = json["subscriptionPeriod"]?.stringValue.flatMap({ Period($0) }),
      (1...36).contains(periods)
    else {
      return note("\(place).subscriptionPeriod", "no period such as P1W, so the offer is not sold")
    }
    for (name, reason) in Self.unenforced.sorted(by: { $0.key < $1.key }) where json[name] != nil {
      note("\(place).\(name)", reason)
    }
    note(unknownIn: json, at: place, known: Self.offerMembers.union(Self.unenforced.keys))
    var members: JSONObject = [
      "app": .string(app), "productId": .string(product), "id": .string(id), "type": .string(type),
      "mode": .string(mode.rawValue),
    ]
    if mode == .payAsYouGo {
      members["period"] = .string(period.description)
      members["periods"] = JSONValue(periods)
    } else {
      members["period"] = .string(period.times(periods))
    }
    if mode != .freeTrial {
      guard let price = price(in: json, at: place) else { return }
      members["price"] = JSONValue(price)
    }
    add(PresetAction(.offers, members))
  }
}

extension Period {
  /// The text of a period that is `count` times as long.
  fileprivate func times(_ count: Int64) -> String {
    guard count > 1 else { return description }
    return "P" + (months > 0 ? "\(months * count)M" : "") + (days > 0 ? "\(days * count)D" : "")
  }
}
