internal import AppStore
package import JSON

/// The place in a retention message that shows an image.
package enum RetentionImageSize: String, Hashable, Sendable, CaseIterable {
  case fullSize = "FULL_SIZE"
  case bulletPoint = "BULLET_POINT"
}

// The Retention Messaging API.
extension AppStoreRequest {
  private static func messaging(
    _ method: Method, _ segments: [String], query: [QueryItem] = [], body: Body = .none
  ) -> AppStoreRequest {
    AppStoreRequest(
      .retentionMessaging, method, path: ["inApps", "v1", "messaging"] + segments, query: query, body: body)
  }

  /// Upload Image.
  ///
  /// - `identifier`: a UUID, chosen by the operator.
  package static func uploadImage(
    _ png: [UInt8], identifier: String, size: RetentionImageSize? = nil
  ) -> AppStoreRequest {
    var query: [QueryItem] = []
    query.add("imageSize", size?.rawValue)
    return messaging(.put, ["image", identifier], query: query, body: .png(png))
      .refusedWhenRepeated(with: .imageAlreadyExists)
  }

  /// Delete Image.
  package static func deleteImage(_ identifier: String) -> AppStoreRequest {
    messaging(.delete, ["image", identifier]).refusedWhenRepeated(with: .imageNotFound)
  }

  /// Get Image List.
  package static var imageList: AppStoreRequest { messaging(.get, ["image", "list"]) }

  /// Upload Message.
  ///
  /// - `message`: Apple's UploadMessageRequestBody.
  /// - `identifier`: a UUID, chosen by the operator.
  package static func uploadMessage(_ message: JSONObject, identifier: String) -> AppStoreRequest {
    messaging(.put, ["message", identifier], body: .json(message))
      .refusedWhenRepeated(with: .messageAlreadyExists)
  }

  /// Delete Message.
  package static func deleteMessage(_ identifier: String) -> AppStoreRequest {
    messaging(.delete, ["message", identifier]).refusedWhenRepeated(with: .messageNotFound)
  }

  /// Get Message List.
  package static var messageList: AppStoreRequest { messaging(.get, ["message", "list"]) }

  /// Configure Default Message.
  ///
  /// - `locale`: such as `en-US`.
  package static func setDefaultMessage(
    _ messageIdentifier: String, ofProduct productID: String, locale: String
  ) -> AppStoreRequest {
    AppStoreRequest(
      .retentionDefault, .put, "inApps", "v1", "messaging", "default", productID, locale,
      body: .json(["messageIdentifier": .string(messageIdentifier)]))
  }

  /// Get Default Message.
  package static func defaultMessage(ofProduct productID: String, locale: String) -> AppStoreRequest {
    messaging(.get, ["default", productID, locale])
  }

  /// Delete Default Message.
  package static func deleteDefaultMessage(ofProduct productID: String, locale: String) -> AppStoreRequest {
    messaging(.delete, ["default", productID, locale])
      .refusedWhenRepeated(with: .defaultMessageNotFound)
  }

  /// Configure Realtime URL, from which Apple fetches the message to show.
  package static func setRealtimeURL(_ url: String) -> AppStoreRequest {
    messaging(.put, ["realtime", "url"], body: .json(["realtimeURL": .string(url)]))
  }

  /// Get Realtime URL.
  package static var realtimeURL: AppStoreRequest { messaging(.get, ["realtime", "url"]) }

  /// Delete Realtime URL.
  package static var deleteRealtimeURL: AppStoreRequest {
    messaging(.delete, ["realtime", "url"]).refusedWhenRepeated(with: .realtimeUrlNotFound)
  }

  /// Initiate Performance Test of the realtime URL.
  package static func performanceTest(originalTransactionID: String) -> AppStoreRequest {
    AppStoreRequest(
      .retentionMessaging, .post, "inApps", "v1", "messaging", "performanceTest",
      body: .json(["originalTransactionId": .string(originalTransactionID)])
    ).notRepeatable
  }

  /// Get Performance Test Results.
  package static func performanceTestResult(requestID: String) -> AppStoreRequest {
    messaging(.get, ["performanceTest", "result", requestID])
  }
}
