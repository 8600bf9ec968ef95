internal import AppStore
internal import JSON

/// Retention messages: what developers set up, and what the review says.
extension World {
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
