internal import AppStore
internal import AppStoreClient
internal import JSON
internal import Ledger
internal import RPC
internal import Wire

// Changes of images, messages, defaults and the URL. Apple validates them; only missing fields are rejected here.
extension RetentionMessagingServiceHandler {
  /// Uploads a PNG image. Evidence has its size and SHA-256 instead of its bytes; without a size, Apple's default
  /// applies.
  func uploadRetentionImage(
    _ request: UploadRetentionImageRequest, _ call: CallContext
  ) async throws(Status) -> UploadRetentionImageResponse {
    try await change(request, "UploadRetentionImage", call) { () throws(Status) in
      try RequestValidation.given(request.imageIdentifier, "image_identifier")
      guard !request.png.isEmpty else { throw .missingField("png", "png is empty") }
      return .uploadImage(
        request.png, identifier: request.imageIdentifier,
        size: try AppStoreClient.RetentionImageSize.requested(request.imageSize))
    }
  }

  /// Deletes an image at Apple, which rejects it (4030019) while a message uses the image.
  func deleteRetentionImage(
    _ request: DeleteRetentionImageRequest, _ call: CallContext
  ) async throws(Status) -> DeleteRetentionImageResponse {
    try await change(request, "DeleteRetentionImage", call) { () throws(Status) in
      try RequestValidation.given(request.imageIdentifier, "image_identifier")
      return .deleteImage(request.imageIdentifier)
    }
  }

  /// Uploads a text of a header and a body, both required, with bullet points and an image if the request has them.
  func uploadRetentionMessage(
    _ request: UploadRetentionMessageRequest, _ call: CallContext
  ) async throws(Status) -> UploadRetentionMessageResponse {
    try await change(request, "UploadRetentionMessage", call) { () throws(Status) in
      try RequestValidation.given(request.messageIdentifier, "message_identifier")
      try RequestValidation.given(request.header, "header")
      try RequestValidation.given(request.body, "body")
      return .uploadMessage(request.message, identifier: request.messageIdentifier)
    }
  }

  /// Deletes a message at Apple. Rules of the configuration that select it are not checked.
  func deleteRetentionMessage(
    _ request: DeleteRetentionMessageRequest, _ call: CallContext
  ) async throws(Status) -> DeleteRetentionMessageResponse {
    try await change(request, "DeleteRetentionMessage", call) { () throws(Status) in
      try RequestValidation.given(request.messageIdentifier, "message_identifier")
      return .deleteMessage(request.messageIdentifier)
    }
  }

  /// Sets the message that Apple shows for a product in a locale if the service gives no answer.
  /// Apple's page: *Configure Default Message*.
  func setDefaultRetentionMessage(
    _ request: SetDefaultRetentionMessageRequest, _ call: CallContext
  ) async throws(Status) -> SetDefaultRetentionMessageResponse {
    try await change(request, "SetDefaultRetentionMessage", call) { () throws(Status) in
      try RequestValidation.given(request.productId, "product_id")
      try RequestValidation.given(request.locale, "locale")
      try RequestValidation.given(request.messageIdentifier, "message_identifier")
      return .setDefaultMessage(
        request.messageIdentifier, ofProduct: request.productId, locale: request.locale)
    }
  }

  /// Removes the default of a product in one locale; other locales keep theirs.
  func deleteDefaultRetentionMessage(
    _ request: DeleteDefaultRetentionMessageRequest, _ call: CallContext
  ) async throws(Status) -> DeleteDefaultRetentionMessageResponse {
    try await change(request, "DeleteDefaultRetentionMessage", call) { () throws(Status) in
      try RequestValidation.given(request.productId, "product_id")
      try RequestValidation.given(request.locale, "locale")
      return .deleteDefaultMessage(ofProduct: request.productId, locale: request.locale)
    }
  }

  /// Sets the URL that Apple calls for a message; ``RetentionEndpoint`` answers it at `/retention/{app}`.
  func setRetentionUrl(
    _ request: SetRetentionUrlRequest, _ call: CallContext
  ) async throws(Status) -> SetRetentionUrlResponse {
    try await change(request, "SetRetentionUrl", call) { () throws(Status) in
      try RequestValidation.given(request.url, "url")
      return .setRealtimeURL(request.url)
    }
  }

  /// Removes the URL, so that Apple calls ``RetentionEndpoint`` no more.
  func deleteRetentionUrl(
    _ request: DeleteRetentionUrlRequest, _ call: CallContext
  ) async throws(Status) -> DeleteRetentionUrlResponse {
    try await change(request, "DeleteRetentionUrl", call) { .deleteRealtimeURL }
  }

  /// Sends a change to Apple once for its idempotency key, and stores it.
  private func change<Request: RepeatableRequest & ChangeRequest>(
    _ request: Request, _ method: String, _ call: CallContext,
    _ appleRequest: () throws(Status) -> AppStoreRequest
  ) async throws(Status) -> Request.Response where Request.Response: AcceptedResponse {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      let sent = try appleRequest()
      let call = try appStore.call(request.app, request.environment, call)
      let record = AppStoreServiceHandler.Record(method, about: "", by: request.actor, note: request.note)
      return try await appStore.changeOnce(once, sent, record, call) {
        .with { $0.acceptedAt = GoogleProtobuf.Timestamp(context.now(in: call.environment)) }
      }
    }
  }
}

extension AppStoreClient.RetentionImageSize {
  /// The size of a request; `nil` selects Apple's default.
  fileprivate static func requested(_ size: Wire.RetentionImageSize) throws(Status) -> Self? {
    switch size {
    case .unspecified: return nil
    case .fullSize: return .fullSize
    case .bulletPoint: return .bulletPoint
    case .unrecognized(let number):
      throw .invalidField("image_size", "unknown image size \(number)")
    }
  }
}

extension UploadRetentionMessageRequest {
  /// Apple's UploadMessageRequestBody.
  fileprivate var message: JSONObject {
    var json: JSONObject = ["header": .string(header), "body": .string(body)]
    if !imageIdentifier.isEmpty {
      json["image"] = .object([
        "imageIdentifier": .string(imageIdentifier), "altText": .string(imageAltText),
      ])
    }
    if headerAboveImage { json["headerPosition"] = "ABOVE_IMAGE" }
    if !bulletPoints.isEmpty {
      json["bulletPoints"] = .array(
        bulletPoints.map { point in
          [
            "text": .string(point.text), "imageIdentifier": .string(point.imageIdentifier),
            "altText": .string(point.altText),
          ]
        })
    }
    return json
  }
}
