package import AppStore

/// What kind of receipt it is: where the app came from (attribute 0, `receipt_type` in `verifyReceipt`).
package enum ReceiptType: OpenCode {
  case production
  /// Bought through the Volume Purchase Program.
  case productionVPP
  case productionSandbox
  case productionVPPSandbox
  /// Made by StoreKit testing in Xcode, not by Apple.
  case xcode
  case unrecognized(String)

  package static let known: [ReceiptType] = [
    .production, .productionVPP, .productionSandbox, .productionVPPSandbox, .xcode,
  ]

  package var rawValue: String {
    switch self {
    case .production: "Production"
    case .productionVPP: "ProductionVPP"
    case .productionSandbox: "ProductionSandbox"
    case .productionVPPSandbox: "ProductionVPPSandbox"
    case .xcode: "Xcode"
    case .unrecognized(let rawValue): rawValue
    }
  }

  /// The environment that it belongs to; `nil` if this version does not know the kind.
  package var environment: Environment? {
    switch self {
    case .production, .productionVPP: .production
    case .productionSandbox, .productionVPPSandbox: .sandbox
    case .xcode: .xcode
    case .unrecognized: nil
    }
  }
}
