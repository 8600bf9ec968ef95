internal import AppStore
internal import JSON

/// A developer's retention messages and their review states.
struct RetentionMessages: Hashable, Sendable {
  /// The state of Apple's review; the raw values are Apple's.
  enum ReviewState: String, Hashable, Sendable {
    case pending = "PENDING"
    case approved = "APPROVED"
    case rejected = "REJECTED"
  }

  /// An uploaded image. Its bytes are not stored.
  struct Image: Hashable, Sendable {
    /// `FULL_SIZE` or `BULLET_POINT`.
    let size: String
    var state = ReviewState.approved
  }

  /// An uploaded message.
  struct Message: Hashable, Sendable {
    /// The uploaded JSON.
    let content: JSONObject
    var state = ReviewState.approved

    /// The identifiers of the images in the message.
    var images: [String] {
      let points = content["bulletPoints"]?.arrayValue?.compactMap(\.objectValue) ?? []
      return ([content["image"]?.objectValue].compactMap(\.self) + points).compactMap {
        $0["imageIdentifier"]?.stringValue
      }
    }
  }

  /// The product and locale of a default message.
  struct DefaultKey: Hashable, Sendable {
    let productID: String
    let locale: String
  }

  /// Images and messages by their UUIDs, which the developer chooses.
  var images: [String: Image] = [:]
  var messages: [String: Message] = [:]
  /// The default messages, shown without a call to the developer's server.
  var defaults: [DefaultKey: String] = [:]
  /// The developer's URL for real-time requests.
  var realtimeURL: String?
}

/// Actions of retention messaging.
extension World {
  /// Stores an image, a message, a default, a review or the URL. The Server API validates uploads before; here they are
  /// only recorded.
  ///
  /// - Throws: ``ActionError/unknown(what:name:known:)`` for the review of an unknown image or message.
  mutating func performMessaging(
    _ action: Action, _ parameters: Parameters
  ) throws(ActionError) -> Outcome {
    let app = try appID(parameters)
    var messages = settings[app]?.messages ?? RetentionMessages()
    switch action {
    case .retentionImage:
      let id = try parameters.string("id")
      let isDeleted = try parameters.flagIfPresent("deleted") ?? false
      let size = try parameters.stringIfPresent("imageSize") ?? "FULL_SIZE"
      messages.images[id] = isDeleted ? nil : RetentionMessages.Image(size: size)
    case .retentionMessage:
      let id = try parameters.string("id")
      let content = parameters.json["content"]?.objectValue
      messages.messages[id] = content.map { RetentionMessages.Message(content: $0) }
    case .retentionDefault:
      let key = RetentionMessages.DefaultKey(
        productID: try parameters.string("productId"), locale: try parameters.string("locale"))
      messages.defaults[key] = try parameters.stringIfPresent("id")
    case .reviewRetention:
      let id = try parameters.string("id")
      let state: RetentionMessages.ReviewState = try parameters.flag("approved") ? .approved : .rejected
      guard messages.images[id] != nil || messages.messages[id] != nil else {
        let known = messages.images.keys.sorted() + messages.messages.keys.sorted()
        throw .unknown(what: "image or message", name: id, known: known)
      }
      messages.images[id]?.state = state
      messages.messages[id]?.state = state
    default: messages.realtimeURL = try parameters.stringIfPresent("url")
    }
    settings[app, default: AppSettings()].messages = messages
    return Outcome()
  }
}
