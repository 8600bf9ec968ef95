internal import ArgumentParser
internal import CommandSupport
internal import EntitledClient
internal import Wire

/// `entitled retention messages`.
struct RetentionMessagesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "messages", abstract: "List the retention messages.")

  @OptionGroup var options: ScopedOptions

  func run() async throws {
    let request: GetRetentionMessagesRequest = try await options.request()
    let response = try await options.withConnection { try await $0.getRetentionMessages(request) }
    let rows = response.messages.map { ($0.messageIdentifier, $0.state) }
    options.showList(response, rows, empty: "no messages")
  }
}

/// `entitled retention upload-message`.
struct UploadMessageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload-message", abstract: "Upload a retention message.")

  @OptionGroup var options: ScopedChangeOptions

  @Option(help: "Header, at most 66 characters.") var header: String
  @Option(help: "Text, at most 144 characters.") var text: String
  @Option(help: "Identifier of a full-size image (default: none).") var image = ""
  @Option(help: "Alternative text of the image, at most 150 characters.") var altText = ""
  @Flag(help: "Show the header above the image instead of the text.") var headerAboveImage = false
  @Option(help: "Bullet point, as IMAGE,ALT TEXT,TEXT; repeatable, at most five.") var bullet: [String] = []

  @Argument(help: "Identifier of the message, a new UUID.") var message: String

  func run() async throws {
    let bullets = try bullet.map(RetentionBulletPoint.init(option:))
    let request: UploadRetentionMessageRequest = try await options.request {
      $0.messageIdentifier = message
      $0.header = header
      $0.body = text
      $0.imageIdentifier = image
      $0.imageAltText = altText
      $0.headerAboveImage = headerAboveImage
      $0.bulletPoints = bullets
    }
    let response = try await options.withConnection { try await $0.uploadRetentionMessage(request) }
    options.show(response, [("accepted", response.acceptedAt.text)])
  }
}

/// `entitled retention delete-message`.
struct DeleteMessageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete-message", abstract: "Delete a retention message.")

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "Identifier of the message.") var message: String

  func run() async throws {
    let request: DeleteRetentionMessageRequest = try await options.request {
      $0.messageIdentifier = message
    }
    let response = try await options.withConnection { try await $0.deleteRetentionMessage(request) }
    options.show(response, [("accepted", response.acceptedAt.text)])
  }
}

extension RetentionBulletPoint {
  /// Parses `IMAGE,ALT TEXT,TEXT`; the text may have commas.
  fileprivate init(option: String) throws {
    let parts = option.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw Failure("--bullet takes IMAGE,ALT TEXT,TEXT, not '\(option)'", status: 64)
    }
    self.init()
    imageIdentifier = String(parts[0])
    altText = String(parts[1])
    text = String(parts[2])
  }
}
