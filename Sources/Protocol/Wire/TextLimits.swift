/// The maximum lengths of the text fields of requests, in bytes of UTF-8.
///
/// They are checked when a request is decoded, before its method runs, so that no id of any length reaches the store,
/// a log line or an error.
package enum TextLimits {
  /// Of ids, names and codes: of every field without another limit.
  package static let standard = 256
  /// Texts of operators, paths, and tokens of pages.
  private static let long = 4_096
  /// The lowest limit. A shorter text needs no lookup.
  static let lowest = 128

  /// The packages whose requests have limits: ours, and those that anyone can call.
  static let packages: Set = [
    "entitled.v1", "grpc.health.v1", "grpc.reflection.v1", "grpc.reflection.v1alpha",
  ]

  /// Documents are limited by the size of a message.
  private static let others: [String: Int] = [
    "idempotency_key": lowest, "request_identifier": lowest, "note": long, "text": long,
    "correlation_id": long, "input_path": long, "page_token": long, "test_notification_token": long,
    "document": .max, "receipt_base64": .max, "signed_transaction": .max,
    "signed_app_transaction": .max, "signed_renewal_info": .max, "advanced_commerce_request_json": .max,
    "request_json": .max, "report_json": .max, "header": long, "body": long, "image_alt_text": long,
    "alt_text": long, "url": long, "device_token": .max,
  ]

  /// The limit of a field by its name in the contract.
  package static func limit(of field: String) -> Int { others[field] ?? standard }
}
