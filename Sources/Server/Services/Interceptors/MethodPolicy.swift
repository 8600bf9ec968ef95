internal import Callers
internal import Wire

/// Who may call a method, and whether it is written down.
struct MethodPolicy: Equatable {
  /// What the caller needs; `nil`: nothing, everybody may call.
  let role: Role?
  /// Whether it changes something, or has somebody else change it: such calls are in the audit log.
  let isChange: Bool

  /// The one table of all methods. What is not in it is for admins: a method that was forgotten is closed.
  static func of(_ path: String) -> MethodPolicy {
    if let access = table[path] { return access }
    let isOpen = openServices.contains { path.hasPrefix("/\($0)/") }
    return isOpen ? MethodPolicy(role: nil, isChange: false) : MethodPolicy(role: .admin, isChange: true)
  }

  /// Whether the table says something about a method.
  static func isDecided(_ path: String) -> Bool {
    table[path] != nil || openServices.contains { path.hasPrefix("/\($0)/") }
  }

  /// Health is for whoever starts and stops the service; the contract is no secret.
  private static let openServices = [
    "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
  ]

  private static let table: [String: MethodPolicy] = {
    var table: [String: MethodPolicy] = [:]
    for row in rows {
      for method in row.methods {
        table["/entitled.v1.\(row.service)/\(method)"] = MethodPolicy(role: row.role, isChange: row.isChange)
      }
    }
    return table
  }()

  private struct Row {
    let service: String
    let role: Role
    let isChange: Bool
    let methods: [String]
  }

  private static let rows: [Row] = [
    Row(
      service: "EntitlementService", role: .read, isChange: false,
      methods: [
        "Check", "BatchCheck", "GetCustomer", "Explain", "Watch", "ListTimeline", "ListUnclaimedPurchases",
        "GetProbableFamily", "GetSubscriptionMetrics", "IssueToken",
      ]),
    Row(
      service: "EntitlementService", role: .operate, isChange: true,
      methods: [
        "LinkPurchase", "MergeCustomers", "TransferPurchase", "UndoTransfer", "Grant", "RevokeGrant",
      ]),
    Row(service: "EntitlementService", role: .admin, isChange: true, methods: ["EraseCustomer"]),
    Row(
      service: "ReceiptService", role: .read, isChange: false,
      methods: ["Inspect", "GetMigration", "ListMigrationFailures"]),
    Row(
      service: "ReceiptService", role: .submit, isChange: true,
      methods: ["SubmitTransaction", "SubmitReceipt", "SignOffer"]),
    Row(
      service: "ReceiptService", role: .operate, isChange: true,
      methods: [
        "MigrateReceipts", "StartMigration", "CancelMigration", "UploadMigrationInput", "CompareWithApple",
      ]),
    Row(
      service: "NotificationService", role: .read, isChange: false,
      methods: ["ListNotifications", "ListRepairs", "GetDriftReport", "CompareNotificationVersions"]),
    Row(service: "NotificationService", role: .submit, isChange: true, methods: ["IngestNotification"]),
    Row(
      service: "NotificationService", role: .operate, isChange: true,
      methods: ["ReprocessNotifications", "BackfillNotifications", "RequestTestNotification"]),
    Row(
      service: "AppStoreService", role: .read, isChange: false,
      methods: ["ListSeats", "ListConsumptionRequests"]),
    Row(
      service: "AppStoreService", role: .operate, isChange: false,
      methods: ["GetMassExtensionStatus", "GetTestNotificationStatus"]),
    Row(
      service: "AppStoreService", role: .submit, isChange: true,
      methods: ["RefreshPurchase", "SetConsumptionConsent"]),
    Row(
      service: "AppStoreService", role: .operate, isChange: true,
      methods: [
        "GetRefundHistory", "LookUpOrder", "ExtendRenewalDate", "SendConsumptionInformation",
        "SetAppAccountToken", "ClaimSeat", "AssociateSeat", "UnclaimSeat",
      ]),
    Row(service: "AppStoreService", role: .admin, isChange: true, methods: ["MassExtendRenewalDate"]),
    Row(
      service: "WebhookService", role: .operate, isChange: false, methods: ["ListWebhooks", "ListDeliveries"]),
    Row(
      service: "WebhookService", role: .operate, isChange: true,
      methods: ["ResendDeliveries", "DiscardDeliveries", "ResumeWebhook"]),
  ]
}
