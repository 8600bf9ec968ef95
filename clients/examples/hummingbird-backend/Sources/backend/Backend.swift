// A backend endpoint for an app's purchases, with Hummingbird and the client of `entitled`.
//
// The app posts {"signedTransaction": "..."} to /purchases and asks GET /entitlements/pro; the header x-user stands for
// the backend's own sign-in. `swift run backend 127.0.0.1:50051 8000`
import Entitled
import Foundation
import HTTPTypes
import Hummingbird

struct Purchase: Decodable {
  var signedTransaction: String
}

struct Answer: ResponseEncodable {
  var entitled: Bool
  var reason: String
}

/// The response to a call that failed at the service.
struct Refusal: HTTPResponseError {
  let status: HTTPResponse.Status
  let reason: String

  /// `permanent` is the status of an error that the same request gets again.
  init(_ error: EntitledError, permanent: HTTPResponse.Status) {
    status = error.isTransient ? .serviceUnavailable : permanent
    reason = error.reason
  }

  func response(from request: Request, context: some RequestContext) throws -> Response {
    var response = try context.responseEncoder.encode(["reason": reason], from: request, context: context)
    response.status = status
    return response
  }
}

/// The routes of the app.
func routes(_ client: EntitledClient) -> Router<BasicRequestContext> {
  let router = Router()
  router.post("purchases") { request, context in
    let user = try user(of: request)
    let purchase = try await request.decode(as: Purchase.self, context: context)
    do throws(EntitledError) {
      _ = try await client.submit(customerID: user, signedTransaction: purchase.signedTransaction)
    } catch {
      // The app must not finish the transaction: it will submit it again.
      throw Refusal(error, permanent: .unprocessableContent)
    }
    // Only now may the app finish the transaction: the service has stored it.
    return [String: String]()
  }
  router.get("entitlements/:name") { request, context in
    let user = try user(of: request)
    let name = try context.parameters.require("name")
    do throws(EntitledError) {
      let answer = try await client.check(customerID: user, entitlement: name)
      return Answer(entitled: answer.entitled, reason: answer.reason)
    } catch {
      throw Refusal(error, permanent: .notFound)
    }
  }
  return router
}

/// The user whom the backend has signed in.
func user(of request: Request) throws -> String {
  guard let name = HTTPField.Name("x-user"), let user = request.headers[name] else {
    throw HTTPError(.unauthorized)
  }
  return user
}

@main
struct Backend {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst().flatMap { $0.split(separator: ":") }
    guard arguments.count == 3, let servicePort = Int(arguments[1]), let port = Int(arguments[2]) else {
      print("usage: backend HOST:PORT-OF-ENTITLED PORT")
      exit(2)
    }
    try await withEntitledClient(
      host: String(arguments[0]), port: servicePort, app: "ocean-journal"
    ) { client in
      let application = Application(
        router: routes(client), configuration: .init(address: .hostname("127.0.0.1", port: port)),
        onServerRunning: { channel in
          print("listening on \(channel.localAddress?.port ?? port)")
          fflush(nil)
        })
      try await application.runService()
    }
  }
}
