package import AppStore

/// One thing that became so for one purchase: the smallest part of every report.
///
/// Reports are sums of postings. A stock is the sum of all postings of its kind up to the end of a day, so each
/// posting of a stock is a difference of it.
package struct Posting: Hashable, Sendable {
  /// The kind of the change.
  package var kind: Kind
  /// When it was so, by Apple's documents.
  package var effectiveAt: Instant
  /// The `originalTransactionId` of the purchase.
  package var line: String
  /// The `transactionId` of the purchase or period.
  package var transactionID: String
  /// The dimensions at ``effectiveAt``.
  package var dimensions: Dimensions
  /// Why; the values depend on the kind. Empty: none.
  package var reason = ""
  /// The cohort of cohort reports; `nil`: no cohort report counts the posting.
  package var cohort: Cohort?
  /// Bits of ``Granularity``'s raw values. Of a charge, those for which it is the payer's first one in its bucket; of what is
  /// active, those for which the subscription was not active at the start of the bucket; of an end, those for which it is
  /// the first one in the bucket of a subscription that was active at its start. The bits from ``earlyShift`` on, of an end and
  /// of a return: those in whose bucket the subscription began.
  package var marks: Int64 = 0
  /// The day of the charge that ``amount`` is a rate of, for conversion; `nil`: the day of ``effectiveAt``, or the app converts
  /// nothing.
  package var chargedOn: ReportDay?
  /// Units: of a stock the difference, of anything else how often it happened.
  package var count: Int64 = 0
  /// Thousandths of ``currency``; for recurring revenue, thousandths a year.
  package var amount: Int64 = 0
  /// The operator's estimated part of ``amount``, in the same unit.
  package var proceeds: Int64 = 0
  /// ISO 4217; empty without an amount.
  package var currency = ""

  /// Creates a posting with a count of 0 and without an amount.
  package init(
    _ kind: Kind, at effectiveAt: Instant, line: String, transactionID: String, _ dimensions: Dimensions
  ) {
    self.kind = kind
    self.effectiveAt = effectiveAt
    self.line = line
    self.transactionID = transactionID
    self.dimensions = dimensions
  }

  /// The first bit of ``marks`` for subscriptions that began in the bucket.
  package static let earlyShift: Int64 = 8

  /// The posting that takes this one back.
  package var reversed: Posting {
    var posting = self
    posting.count = -count
    posting.amount = -amount
    posting.proceeds = -proceeds
    return posting
  }

  /// The dimensions by which reports group.
  ///
  /// The texts are in shared storage, because a posting is copied often, and many postings have the same ones.
  package struct Dimensions: Hashable, Sendable {
    /// The texts with their hash, which stands for them in most comparisons.
    private final class Texts: Sendable {
      let productID: String
      let group: String
      let storefront: String
      let offerKind: String
      let fingerprint: UInt64

      init(_ productID: String, _ group: String, _ storefront: String, _ offerKind: String) {
        (self.productID, self.group, self.storefront, self.offerKind) = (
          productID, group, storefront, offerKind
        )
        var hash = PostingHash()
        hash.add(productID)
        hash.add(group)
        hash.add(storefront)
        hash.add(offerKind)
        fingerprint = hash.value
      }
    }

    private let texts: Texts

    /// The App Store's product id; empty for what belongs to no product, such as a withdrawn consent.
    package var productID: String { texts.productID }
    /// The subscription group, or empty.
    package var group: String { texts.group }
    /// ISO 3166-1 alpha-3, or empty if Apple's document has none.
    package var storefront: String { texts.storefront }
    /// Such as `INTRODUCTORY_FREE_TRIAL`; empty for the standard price.
    package var offerKind: String { texts.offerKind }
    /// A hash of the texts, equal in every process: it is a part of hashes that are stored. Each posting needs it once or
    /// twice, so it is computed once for all.
    var fingerprint: UInt64 { texts.fingerprint }

    package init(productID: String, group: String = "", storefront: String = "", offerKind: String = "") {
      texts = Texts(productID, group, storefront, offerKind)
    }

    /// The same dimensions with another offer.
    package func with(offerKind: String) -> Dimensions {
      Dimensions(productID: productID, group: group, storefront: storefront, offerKind: offerKind)
    }

    package static func == (left: Dimensions, right: Dimensions) -> Bool {
      left.texts === right.texts
        || (left.fingerprint == right.fingerprint && left.productID == right.productID
          && left.group == right.group && left.storefront == right.storefront
          && left.offerKind == right.offerKind)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
  }

  /// The members that a cohort report counts together.
  package struct Cohort: Hashable, Sendable {
    /// The day on which they joined it.
    package var day: ReportDay
    /// Their dimensions at that moment.
    package var dimensions: Dimensions
    /// The number of the period, from 1, or of the month, from 0.
    package var age: Int64

    package init(day: ReportDay, dimensions: Dimensions, age: Int64 = 0) {
      self.day = day
      self.dimensions = dimensions
      self.age = age
    }
  }
}
