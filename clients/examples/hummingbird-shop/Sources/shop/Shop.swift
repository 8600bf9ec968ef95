// A backend with Hummingbird that receives the App Store's notifications and answers whether a customer is entitled.
//
// The id of a customer is the appAccountToken that the app gives to StoreKit. `swift run shop 8000`
import Foundation
import Hummingbird

struct Envelope: Decodable {
  var signedPayload: String
}

struct Answer: ResponseEncodable {
  var entitled: Bool
}

/// What the shop trusts and sells.
struct Settings: Sendable {
  /// The file with Apple's root certificate in DER; in tests, the sandbox's.
  var root: String
  var bundleId: String
  var environment: String

  init(_ variables: [String: String]) {
    root = variables["APP_STORE_ROOT"] ?? "AppleRootCA-G3.cer"
    bundleId = variables["APP_STORE_BUNDLE_ID"] ?? "com.example.oceanjournal"
    environment = variables["APP_STORE_ENVIRONMENT"] ?? "Production"
  }
}

/// The routes of the shop.
func routes(_ settings: Settings) throws -> Router<BasicRequestContext> {
  let verifier = try DocumentVerifier(root: Data(contentsOf: URL(filePath: settings.root)))
  let purchases = Purchases()
  let router = Router()
  router.post("apple") { request, context -> HTTPResponse.Status in
    let envelope = try await request.decode(as: Envelope.self, context: context)
    do {
      let notification = try await verifier.verified(envelope.signedPayload, as: Notification.self)
      guard let content = notification.data, let signed = content.signedTransactionInfo else { return .ok }
      let transaction = try await verifier.verified(signed, as: Transaction.self)
      guard transaction.bundleId == settings.bundleId, transaction.environment == settings.environment else {
        return .badRequest
      }
      await purchases.apply(transaction, status: content.status, signed: notification.signedDate)
      return .ok
    } catch {
      return .badRequest
    }
  }
  router.get("customers/:id") { _, context in
    guard let id = UUID(uuidString: try context.parameters.require("id")) else { throw HTTPError(.notFound) }
    return Answer(entitled: await purchases.isEntitled(id))
  }
  return router
}

@main
struct Shop {
  static func main() async throws {
    guard let port = Int(CommandLine.arguments.dropFirst().first ?? "8000") else {
      print("usage: shop PORT")
      exit(2)
    }
    let application = Application(
      router: try routes(Settings(ProcessInfo.processInfo.environment)),
      configuration: .init(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { channel in
        print("listening on \(channel.localAddress?.port ?? port)")
        fflush(nil)
      })
    try await application.runService()
  }
}
