internal import AppStore

// Families, whose members share what each of them bought.
extension World {
  /// The largest family (Apple: "Supporting Family Sharing in your app", "up to five family members").
  private static let maxFamily = 6

  /// Returns the other members of an account's family, by name.
  func family(of account: String) -> [String] {
    guard let family = accounts[account]?.family else { return [] }
    return accounts.keys.filter { $0 != account && accounts[$0]?.family == family }.sorted()
  }

  /// Adds an account to a family, which shares all purchases in both directions. It leaves the family in which it was.
  ///
  /// - Throws: ``ActionError/notPossible(_:)`` if the family is full.
  mutating func join(_ account: String, family: String) throws(ActionError) {
    let others = accounts.keys.filter { $0 != account && accounts[$0]?.family == family }
    guard others.count < Self.maxFamily else {
      throw .notPossible("family '\(family)' has \(Self.maxFamily) members")
    }
    leaveFamily(account)
    accounts[account, default: AppleAccount()].family = family
    shareEverything(of: [account] + self.family(of: account))
  }

  /// Removes an account from its family, which ends sharing in both directions.
  mutating func leaveFamily(_ account: String) {
    for app in apps.map(\.id) {
      for member in self.family(of: account) {
        endSharing(between: member, and: account, in: app)
        endSharing(between: account, and: member, in: app)
      }
    }
    accounts[account]?.family = nil
  }

  /// Revokes what a member has of the purchases of one owner; running subscriptions and shared one-time purchases.
  private mutating func endSharing(between owner: String, and member: String, in app: String) {
    for transaction in purchases(of: owner, in: app) where transaction.ownership == .purchased {
      if let line = lines[transaction.id] {
        for id in line.members
        where lines[id]?.account == member && lines[id]?.ownership == .familyShared
          && lines[id]?.isRunning == true
        {
          revoke(id)
        }
      } else {
        revokeShared(transaction, from: member)
      }
    }
  }

  /// Shares all purchases of the accounts that are shareable.
  mutating func shareEverything(of accounts: [String]) {
    for account in accounts {
      for app in apps.map(\.id) {
        for transaction in purchases(of: account, in: app) {
          if let line = lines[transaction.id] { share(line) } else { share(transaction) }
        }
      }
    }
  }
}
