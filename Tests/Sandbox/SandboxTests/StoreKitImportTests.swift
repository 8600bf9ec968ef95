import AppStore
import JSON
import Testing

@testable import Sandbox

@Suite struct StoreKitImportTests {
  /// A file with everything that Xcode can write for a server, and more.
  private static let file = """
    {
      "appPolicies": {"eula": "", "policies": []},
      "identifier": "43D5C5F2",
      "nonRenewingSubscriptions": [
        {"displayPrice": "7.99", "familyShareable": false, "internalID": "n1", "localizations": [],
         "productID": "season", "referenceName": "Season", "type": "NonRenewingSubscription"}
      ],
      "products": [
        {"displayPrice": "0.99", "familyShareable": false, "internalID": "p1", "localizations": [],
         "productID": "coins", "referenceName": "Coins", "type": "Consumable"},
        {"displayPrice": "49,99", "familyShareable": true, "internalID": "p2", "localizations": [],
         "productID": "lifetime", "referenceName": "Lifetime", "type": "NonConsumable"},
        {"displayPrice": "1", "productID": "strange", "type": "Lootbox"},
        {"displayPrice": "free", "productID": "gift", "type": "NonConsumable", "sparkle": true}
      ],
      "settings": {
        "_applicationInternalID": "1234567890", "_developerTeamID": "TEAM", "_failTransactionsEnabled": false,
        "_billingGracePeriodEnabled": true, "_locale": "de_DE", "_storefront": "DEU", "_timeRate": 6,
        "_storeKitErrors": [{"current": null, "enabled": false, "name": "Purchase"}], "_moonPhase": 1
      },
      "subscriptionGroups": [
        {"id": "21500001", "localizations": [], "name": "Pro", "subscriptions": [
          {"adHocOffers": [
             {"displayPrice": "1.99", "internalID": "a1", "numberOfPeriods": 3, "offerID": "back",
              "paymentMode": "payAsYouGo", "referenceName": "Back", "subscriptionPeriod": "P1M"}],
           "codeOffers": [
             {"displayPrice": "9.99", "eligibility": ["new"], "internalID": "c1", "isStackable": true,
              "paymentMode": "payUpFront", "referenceName": "PRESS", "subscriptionPeriod": "P6M"}],
           "winbackOffers": [
             {"internalID": "w1", "offerID": "return", "paymentMode": "free", "referenceName": "Return",
              "numberOfPeriods": 2, "subscriptionPeriod": "P1W"}],
           "displayPrice": "4.99", "familyShareable": false, "groupNumber": 2, "internalID": "s1",
           "introductoryOffer": {"internalID": "i1", "numberOfPeriods": 1, "paymentMode": "free",
             "subscriptionPeriod": "P2W"},
           "localizations": [], "productID": "pro.monthly", "recurringSubscriptionPeriod": "P1M",
           "referenceName": "Monthly", "subscriptionGroupID": "21500001", "type": "RecurringSubscription"},
          {"adHocOffers": [], "codeOffers": [], "displayPrice": "39.99", "familyShareable": false, "groupNumber": 1,
           "internalID": "s2", "introductoryOffer": null, "localizations": [], "productID": "pro.yearly",
           "recurringSubscriptionPeriod": "P1Y", "referenceName": "Yearly", "type": "RecurringSubscription"}
        ]}
      ],
      "version": {"major": 4, "minor": 0}
    }
    """

  private func imported(_ text: String = file, app: String? = nil) throws -> StoreKitImport {
    try StoreKitImport(parsing: Array(text.utf8), bundleID: "com.example.journal", app: app)
  }

  @Test("Products keep their ids, types, groups, levels, periods and prices")
  func products() throws {
    let app = try #require(try imported().catalog.apps.first)
    #expect(app.id == "journal" && app.identity.bundleID == "com.example.journal")
    #expect(app.identity.appAppleID == 1_234_567_890)
    let products = Dictionary(uniqueKeysWithValues: app.products.map { ($0.productId, $0) })
    #expect(products.keys.sorted() == ["coins", "gift", "lifetime", "pro.monthly", "pro.yearly", "season"])
    #expect(products["coins"]?.type == .consumable && products["coins"]?.price == 990)
    #expect(products["lifetime"]?.type == .nonConsumable && products["lifetime"]?.price == 49_990)
    #expect(products["season"]?.type == .nonRenewingSubscription)
    #expect(products["gift"]?.price == nil)
    let monthly = try #require(products["pro.monthly"])
    #expect(monthly.subscriptionGroupIdentifier == "21500001" && monthly.level == 2)
    #expect(monthly.period == Period("P1M") && monthly.price == 4_990 && monthly.currency == "EUR")
    #expect(products["pro.yearly"]?.level == 1)
    #expect(try imported(app: "shop").catalog.apps.first?.id == "shop")
  }

  @Test("A world of the file has its offers and Family Sharing from the beginning, and again after a reset")
  func offers() async throws {
    let catalog = try imported().catalog
    let store = try AppStoreSimulator(
      apps: catalog.apps, settings: catalog.settings, storage: .memory, now: { DemoWorld.start })
    for _ in 1...2 {
      let settings = try #require(await store.world.settings["journal"])
      let offers = settings.offers["pro.monthly"] ?? []
      #expect(offers.map(\.id) == ["introductory", "back", "PRESS", "return"])
      #expect(offers.map(\.type) == [.introductory, .promotional, .offerCode, .winBack])
      #expect(offers.map(\.price) == [0, 1_990, 9_990, 0] && offers.map(\.periods) == [1, 3, 1, 1])
      #expect(offers.map(\.period) == [Period("P2W"), Period("P1M"), Period("P6M"), Period("P14D")])
      #expect(settings.shareable == ["lifetime"] && settings.gracePeriod.days == 16)
      try await store.reset()
    }
  }

  @Test("A number that cannot be the Apple id of an app is named", arguments: [Int64.min, -1, .max])
  func appleID(number: Int64) throws {
    let text = Self.file.replacing("\"1234567890\"", with: "\"\(number)\"")
    let strange = try imported(text)
    #expect(strange.catalog.apps.first?.identity.appAppleID == nil)
    #expect(strange.notImported.contains { $0.hasPrefix("settings._applicationInternalID: ") })
  }

  @Test("Unsupported parts of a StoreKit file are named with their place")
  func unknown() throws {
    let places = try imported().notImported.map { $0.prefix { $0 != ":" } }
    #expect(
      places == [
        "settings._billingGracePeriodEnabled", "settings._timeRate", "settings._moonPhase",
        "products[2].type",
        "products[3].sparkle", "products[3].displayPrice",
        "subscriptionGroups[0].subscriptions[0].codeOffers[0].eligibility",
        "subscriptionGroups[0].subscriptions[0].codeOffers[0].isStackable",
      ])
  }

  @Test(
    "A file without products is rejected",
    arguments: ["", "[]", "{}", #"{"products": []}"#, #"{"products": [1, {"productID": ""}]}"#])
  func empty(text: String) { #expect(throws: ActionError.self) { try imported(text) } }

  @Test(
    "Prices are decimal numbers",
    arguments: [
      ("9.99", 9_990), ("9,99", 9_990), ("300", 300_000), ("0", 0), ("0.005", 5), ("", nil), ("-1", nil),
      ("1.2345", nil), ("$1", nil), ("1.", 1_000), ("99999999.999", 99_999_999_999),
      ("100000000", nil), (".5", nil),
    ] as [(String, Int64?)])
  func prices(text: String, price: Int64?) { #expect(StoreKitReader.thousandths(text) == price) }
}
