internal import AppStore
internal import Configuration
internal import Entitlements
internal import Foundation
internal import Transport

/// The text that `entitled serve` prints when it is ready: a line for machines, and the first calls for people.
struct StartupBanner {
  let listeners: Listeners
  let data: String
  /// The apps of the loaded configuration.
  let apps: [AppConfiguration]
  /// The link that signs in to the console once; `nil` without one.
  let consoleLink: String?
  let tls: ListenerTLS

  /// Prints the banner on the standard output, at once.
  func print() {
    Swift.print(line)
    if let address = listeners.console?.address { Swift.print("console=\(consoleLink ?? "\(address)")") }
    if let sandbox = listeners.sandbox { Swift.print(firstCalls(sandbox.address)) }
    // A pipe is not flushed line by line, and its reader waits for this line.
    fflush(nil)
  }

  /// The line for machines, which scripts wait for.
  private var line: String {
    let sandbox = listeners.sandbox.map { $0.address.description } ?? "off"
    return
      "ready grpc=\(listeners.grpc.address) http=\(listeners.http.address) sandbox=\(sandbox) data=\(data)"
  }

  /// The addresses, and a purchase that can be made right away.
  private func firstCalls(_ sandbox: HostAndPort) -> String {
    """

    gRPC                 \(listeners.grpc.address)
    JSON and health      \(tls.http == nil ? "http" : "https")://\(listeners.http.address)
    sandbox App Store    http://\(sandbox)

    \(example(sandbox))
    """
  }

  /// The options of commands that call the service.
  private var client: String {
    "--grpc \(listeners.grpc.address)" + (tls.grpc == nil ? "" : " --tls-ca AUTHORITIES.pem")
  }

  /// A purchase in the sandbox of a product that grants an entitlement, or how to see the apps without one.
  private func example(_ sandbox: HostAndPort) -> String {
    let program = "  entitled=\(CommandLine.arguments[0])"
    guard let sale = FirstSale(apps) else {
      return """
        The sandbox sells nothing: no app with the environment Sandbox has a product with an entitlement and a price.

        \(program)
          $entitled status \(client)
        """
    }
    let app = apps.count > 1 ? " --app \(sale.app)" : ""
    let environment = sale.isDefaultEnvironment ? "" : " --environment Sandbox"
    return """
      Try, in another terminal:

      \(program)
        $entitled sandbox buy \(sale.product)\(app) --sandbox \(sandbox) > purchase.jws
        $entitled submit alice @purchase.jws\(app) \(client)
        $entitled check alice \(sale.entitlement)\(app)\(environment) \(client)
      """
  }
}

/// A purchase that shows the service: a product that the sandbox sells, and an entitlement that it grants.
struct FirstSale {
  let app: String
  let product: String
  let entitlement: String
  /// Whether calls without an environment are about the sandbox.
  let isDefaultEnvironment: Bool

  /// The first product of the first app, subscriptions before others; `nil` if no app that accepts the sandbox has a
  /// product with an entitlement and what the sandbox needs to sell it.
  init?(_ apps: [AppConfiguration]) {
    for configuration in apps where configuration.definition.environments.contains(.sandbox) {
      let app = configuration.definition
      let products = app.products.values.filter { product in
        let terms = configuration.terms[product.productID]
        return terms?.price != nil && (product.type != .autoRenewableSubscription || terms?.period != nil)
      }.sorted { $0.productID < $1.productID }
      let subscriptions = products.filter { $0.type == .autoRenewableSubscription }
      for product in subscriptions + products {
        guard let entitlement = product.entitlements.first else { continue }
        self.app = app.id
        self.product = product.productID
        self.entitlement = entitlement
        isDefaultEnvironment = app.environments.first == .sandbox
        return
      }
    }
    return nil
  }
}
