internal import ArgumentParser
internal import EntitledClient
internal import Foundation
internal import Wire

/// `entitled retention`: Apple's Retention Messaging API.
struct RetentionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retention", abstract: "Manage messages for subscribers who cancel.",
    subcommands: [
      RetentionImagesCommand.self, UploadImageCommand.self, DeleteImageCommand.self,
      RetentionMessagesCommand.self, UploadMessageCommand.self, DeleteMessageCommand.self,
      DefaultMessageCommand.self, SetDefaultMessageCommand.self, DeleteDefaultMessageCommand.self,
      RetentionURLCommand.self, SetRetentionURLCommand.self, DeleteRetentionURLCommand.self,
      PerformanceTestCommand.self, PerformanceTestResultCommand.self, RetentionRequestsCommand.self,
      RetentionReportCommand.self,
    ])
}

/// `entitled retention images`.
struct RetentionImagesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "images", abstract: "List the images of retention messages.")

  @OptionGroup var options: ScopedOptions

  func run() async throws {
    let request: GetRetentionImagesRequest = try await options.request()
    let response = try await options.withConnection { try await $0.getRetentionImages(request) }
    let rows = response.images.map { ($0.imageIdentifier, "\($0.state), \($0.imageSize)") }
    options.showList(response, rows, empty: "no images")
  }
}

/// `entitled retention upload-image`.
struct UploadImageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload-image", abstract: "Upload an image for retention messages.")

  @OptionGroup var options: ScopedChangeOptions

  @Option(help: "Size: full-size or bullet-point (default: full-size).") var size: String?

  @Argument(help: "Identifier of the image, a new UUID.") var image: String
  @Argument(help: "PNG without transparency: @FILE, or - for the standard input.") var png: String

  func run() async throws {
    let png = Array(try Document.bytes(png))
    let size: RetentionImageSize = try EnumOption.parse(size, "RETENTION_IMAGE_SIZE_", "--size")
    let request: UploadRetentionImageRequest = try await options.request {
      $0.imageIdentifier = image
      $0.png = png
      $0.imageSize = size
    }
    let response = try await options.withConnection { try await $0.uploadRetentionImage(request) }
    options.show(response, [("accepted", response.acceptedAt.text)])
  }
}

/// `entitled retention delete-image`.
struct DeleteImageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete-image", abstract: "Delete an image of retention messages.")

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "Identifier of the image.") var image: String

  func run() async throws {
    let request: DeleteRetentionImageRequest = try await options.request {
      $0.imageIdentifier = image
    }
    let response = try await options.withConnection { try await $0.deleteRetentionImage(request) }
    options.show(response, [("accepted", response.acceptedAt.text)])
  }
}

/// `entitled retention url`.
struct RetentionURLCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "url", abstract: "Show the URL that Apple calls for a message.")

  @OptionGroup var options: ScopedOptions

  func run() async throws {
    let request: GetRetentionUrlRequest = try await options.request()
    let response = try await options.withConnection { try await $0.getRetentionUrl(request) }
    options.show(response, [("url", response.url)])
  }
}

/// `entitled retention set-url`.
struct SetRetentionURLCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set-url", abstract: "Set the URL that Apple calls for a message.")

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "URL with https, at most 256 characters.") var url: String

  func run() async throws {
    let request: SetRetentionUrlRequest = try await options.request { $0.url = url }
    let response = try await options.withConnection { try await $0.setRetentionUrl(request) }
    options.show(response, [("accepted", response.acceptedAt.text)])
  }
}

/// `entitled retention delete-url`.
struct DeleteRetentionURLCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete-url", abstract: "Remove the URL that Apple calls.")

  @OptionGroup var options: ScopedChangeOptions

  func run() async throws {
    let request: DeleteRetentionUrlRequest = try await options.request()
    let response = try await options.withConnection { try await $0.deleteRetentionUrl(request) }
    options.show(response, [("accepted", response.acceptedAt.text)])
  }
}
