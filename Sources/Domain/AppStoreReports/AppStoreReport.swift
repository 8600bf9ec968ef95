/// The reports of App Store Connect that state what an app sold (App Store Connect API: "Download sales and trends
/// reports" and "Download finance reports").
package enum AppStoreReport: String, Hashable, Sendable, CaseIterable {
  /// Subscriptions at the end of a day.
  case subscription = "SUBSCRIPTION"
  /// Events of subscriptions on a day, aggregated.
  case subscriptionEvent = "SUBSCRIPTION_EVENT"
  /// One line for each charge or refund of a subscription on a day.
  case subscriber = "SUBSCRIBER"
  /// Units and money of a day, of all kinds of products.
  case sales = "SALES"
  /// Apple's payments for a month of its fiscal calendar.
  case finance = "FINANCIAL"

  /// The `reportSubType`; `nil` for finance reports.
  package var subType: String? {
    switch self {
    case .subscription, .subscriptionEvent, .sales: "SUMMARY"
    case .subscriber: "DETAILED"
    case .finance: nil
    }
  }

  /// The versions in which the columns are those of ``columns``; the first is the default.
  package var versions: [String] {
    switch self {
    case .subscription, .subscriptionEvent, .subscriber: ["1_3", "1_4"]
    case .sales: ["1_0", "1_1", "1_3"]
    case .finance: []
    }
  }

  /// The names of the columns, in Apple's order.
  package var columns: [String] {
    switch self {
    case .subscription:
      Self.subscriptionColumns
        + [
          "Preserved Pricing", "Proceeds Reason", "Client", "Device", "State", "Country",
        ] + SubscriptionColumn.allCases.map(\.rawValue) + [
          "Marketing Opt-Ins", "Billing Retry", "Grace Period", "Subscribers",
        ]
    case .subscriptionEvent:
      ["Event Date", "Event"] + Self.nameColumns + [
        "Subscription Offer Type", "Subscription Offer Duration", "Marketing Opt-In",
        "Marketing Opt-In Duration", "Preserved Pricing", "Proceeds Reason", "Subscription Offer Name",
        "Promotional Offer ID", "Consecutive Paid Periods", "Original Start Date", "Device", "Client",
        "State",
        "Country", "Previous Subscription Name", "Previous Subscription Apple ID", "Days Before Canceling",
        "Cancellation Reason", "Days Canceled", "Quantity", "Paid Service Days Recovered",
      ]
    case .subscriber:
      ["Event Date"] + Self.nameColumns + [
        "Subscription Offer Name", "Promotional Offer ID", "Subscription Offer Type",
        "Subscription Offer Duration", "Marketing Opt-In Duration", "Customer Price", "Customer Currency",
        "Developer Proceeds", "Proceeds Currency", "Preserved Pricing", "Proceeds Reason", "Client", "Device",
        "Country", "Subscriber ID", "Subscriber ID Reset", "Refund", "Purchase Date", "Units",
      ]
    case .sales:
      [
        "Provider", "Provider Country", "SKU", "Developer", "Title", "Version", "Product Type Identifier",
        "Units", "Developer Proceeds", "Begin Date", "End Date", "Customer Currency", "Country Code",
        "Currency of Proceeds", "Apple Identifier", "Customer Price", "Promo Code", "Parent Identifier",
        "Subscription", "Period", "Category", "CMB", "Device", "Supported Platforms", "Proceeds Reason",
        "Preserved Pricing", "Client", "Order Type",
      ]
    case .finance:
      [
        "Start Date", "End Date", "UPC", "ISRC/ISBN", "Vendor Identifier", "Quantity", "Partner Share",
        "Extended Partner Share", "Partner Share Currency", "Sale or Return", "Apple Identifier",
        "Artist/Show/Developer/Author", "Title", "Label/Studio/Network/Developer/Publisher", "Grid",
        "Product Type Identifier", "ISAN/Other Identifier", "Country Of Sale", "Pre-order Flag", "Promo Code",
        "Customer Price", "Customer Currency",
      ]
    }
  }

  private static let nameColumns = [
    "App Name", "App Apple ID", "Subscription Name", "Subscription Apple ID", "Subscription Group ID",
    "Standard Subscription Duration",
  ]

  private static let subscriptionColumns =
    nameColumns + [
      "Subscription Offer Name", "Promotional Offer ID", "Customer Price", "Customer Currency",
      "Developer Proceeds", "Proceeds Currency",
    ]

  /// The columns that say what a row counts; a report without them is not read.
  package var requiredColumns: [String] {
    switch self {
    case .subscription:
      ["Subscription Apple ID", "Country", "Active Standard Price Subscriptions", "Billing Retry"]
    case .subscriptionEvent: ["Event Date", "Event", "Subscription Apple ID", "Country", "Quantity"]
    case .subscriber:
      [
        "Event Date", "Subscription Apple ID", "Customer Price", "Customer Currency", "Developer Proceeds",
        "Country", "Subscriber ID", "Refund", "Units",
      ]
    case .sales:
      [
        "SKU", "Product Type Identifier", "Units", "Developer Proceeds", "Begin Date", "End Date",
        "Customer Currency", "Country Code", "Apple Identifier", "Customer Price",
      ]
    case .finance:
      [
        "Start Date", "End Date", "Vendor Identifier", "Quantity", "Extended Partner Share",
        "Partner Share Currency", "Sale or Return", "Country Of Sale",
      ]
    }
  }
}

extension AppStoreReport {
  /// The name in paths and commands.
  package var name: String {
    switch self {
    case .subscription: "subscription"
    case .subscriptionEvent: "subscription-event"
    case .subscriber: "subscriber"
    case .sales: "sales"
    case .finance: "finance"
    }
  }

  /// Returns the report with exactly this ``name``; `nil` if there is none.
  package static func named(_ name: String) -> AppStoreReport? { allCases.first { $0.name == name } }
}

/// The columns of a Subscription report that count subscriptions in force, by offer.
package enum SubscriptionColumn: String, Hashable, Sendable, CaseIterable {
  case standard = "Active Standard Price Subscriptions"
  case introductoryFreeTrial = "Active Free Trial Introductory Offer Subscriptions"
  case introductoryPayUpFront = "Active Pay Up Front Introductory Offer Subscriptions"
  case introductoryPayAsYouGo = "Active Pay As You Go Introductory Offer Subscriptions"
  case promotionalFreeTrial = "Free Trial Promotional Offer Subscriptions"
  case promotionalPayUpFront = "Pay Up Front Promotional Offer Subscriptions"
  case promotionalPayAsYouGo = "Pay As You Go Promotional Offer Subscriptions"
  case offerCodeFreeTrial = "Free Trial Offer Code Subscriptions"
  case offerCodePayUpFront = "Pay Up Front Offer Code Subscriptions"
  case offerCodePayAsYouGo = "Pay As You Go Offer Code Subscriptions"
  case winBackFreeTrial = "Free Trial Win-Back Offers"
  case winBackPayUpFront = "Pay Up Front Win-Back Offers"
  case winBackPayAsYouGo = "Pay As You Go Win-Back Offers"
}

/// The value of `Proceeds Reason` for charges after one year of paid service.
package let rateAfterOneYear = "Rate After One Year"
