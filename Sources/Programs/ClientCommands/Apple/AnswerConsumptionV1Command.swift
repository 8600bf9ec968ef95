internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled consumption answer-v1`.
struct AnswerConsumptionV1Command: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "answer-v1", abstract: "Send consumption information of version 1 to Apple.",
    discussion: """
      Advanced Commerce purchases need version 1. Apple requires the customer's consent (--consented). The numbers are \
      Apple's codes (ConsumptionRequestV1); 0 is undeclared.
      """)

  @OptionGroup var options: ScopedChangeOptions

  @Flag(help: "The customer consented.") var consented = false
  @Flag(help: "The customer had a free sample before.") var sample = false
  @Option(help: "appAccountToken of the customer, a UUID (default: none).") var appAccountToken = ""
  @Option(help: "Consumption: 1 none, 2 in part, 3 all.") var consumption: Int32 = 0
  @Option(help: "Platform: 1 Apple's, 2 another.") var platform: Int32 = 0
  @Option(help: "Delivery: 0 works, 1 to 5 did not.") var delivery: Int32 = 0
  @Option(help: "Age of the account, 0 to 7.") var tenure: Int32 = 0
  @Option(help: "Time of use, 0 to 7.") var playTime: Int32 = 0
  @Option(help: "Money spent, 0 to 7.") var purchased: Int32 = 0
  @Option(help: "Money refunded, 0 to 7.") var refunded: Int32 = 0
  @Option(help: "Account: 1 active, 2 suspended, 3 terminated, 4 limited.") var user: Int32 = 0
  @Option(help: "Preference: 1 grant, 2 decline, 3 none.") var refund: Int32 = 0
  @Flag(help: "Show the information without sending it.") var dryRun = false

  @Argument(help: "Transaction id, as 'consumption list' prints it.") var transaction: String

  func run() async throws {
    let request: SendConsumptionInformationV1Request = try await options.request {
      $0.transactionId = transaction
      $0.customerConsented = consented
      $0.sampleContentProvided = sample
      $0.appAccountToken = appAccountToken
      $0.consumptionStatus = consumption
      $0.platform = platform
      $0.deliveryStatus = delivery
      $0.accountTenure = tenure
      $0.playTime = playTime
      $0.lifetimeDollarsPurchased = purchased
      $0.lifetimeDollarsRefunded = refunded
      $0.userStatus = user
      $0.refundPreference = refund
      $0.dryRun = dryRun
    }
    let response = try await options.withConnection {
      try await $0.sendConsumptionInformationV1(request)
    }
    options.show(response, [("sent", response.sentAt.text), ("information", response.payloadJson)])
  }
}
