internal import AppStore
internal import JSON

/// What a developer uploaded to show to subscribers who are about to cancel, and what the review said of it.
struct RetentionMessages: Hashable, Sendable {
  enum ReviewState: String, Hashable, Sendable {
    case pending = "PENDING_REVIEW"
    case approved = "APPROVED"
    case rejected = "REJECTED"
  }

  struct Image: Hashable, Sendable {
    /// `FULL_SIZE` or `BULLET_POINT`.
    let size: String
    var state = ReviewState.approved
  }

  struct Message: Hashable, Sendable {
    /// As it was uploaded.
    let content: JSONObject
    var state = ReviewState.approved

    /// The images that it shows.
    var images: [String] {
      let points = content["bulletPoints"]?.arrayValue?.compactMap(\.objectValue) ?? []
      return ([content["image"]?.objectValue].compactMap(\.self) + points).compactMap {
        $0["imageIdentifier"]?.stringValue
      }
    }
  }

  /// For which product, in which language.
  struct DefaultKey: Hashable, Sendable {
    let productID: String
    let locale: String
  }

  /// By the UUIDs that the developer chose, as messages are.
  var images: [String: Image] = [:]
  var messages: [String: Message] = [:]
  /// The message that is shown where the developer is not asked.
  var defaults: [DefaultKey: String] = [:]
  /// Where the developer is asked which message to show.
  var realtimeURL: String?
}
