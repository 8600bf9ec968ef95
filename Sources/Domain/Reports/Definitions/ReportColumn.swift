/// One column of a report.
package struct ReportColumn: Hashable, Sendable {
  /// The unit of the values.
  package enum Unit: Hashable, Sendable {
    /// How many or how often.
    case count
    /// Thousandths of a currency unit.
    case money
    /// Thousandths of a currency unit for a year.
    case moneyPerYear
  }

  /// Ratios are answered as two columns, so that no digit is lost.
  package enum Role: Hashable, Sendable {
    /// The column is no part of a ratio.
    case value
    /// The ratio is this column by the denominator.
    case numerator
    /// The ratio is the numerator by this column.
    case denominator
  }

  /// The days of a bucket that the column adds up.
  package enum Span: Hashable, Sendable {
    /// The days of the bucket.
    case bucket
    /// All days before the bucket.
    case opening
    /// All days up to the end of the bucket.
    case closing
  }

  /// Postings that the column adds up.
  package struct Term: Hashable, Sendable {
    /// The member of a posting that is added.
    package enum Field: Hashable, Sendable { case count, amount }

    /// The kind of the postings.
    package let kind: Posting.Kind
    let field: Field
    let sign: Int64
    /// The reasons of the postings; `nil`: all.
    let reasons: Set<String>?
    /// Whether the bucket is that in which the members joined their cohort.
    package let isOfCohort: Bool
  }

  /// Such as `lapsed_voluntary`.
  package let name: String
  /// The unit of the values.
  package let unit: Unit
  /// Whether the column is a value, or the numerator or denominator of a ratio.
  package let role: Role
  /// The days whose postings a bucket adds up.
  package let span: Span
  /// The definition of its values, in one sentence.
  package let definition: String
  /// The postings that make up the values; empty for a column with a ``derivation``.
  package let terms: [Term]
  /// Whether the column is of the row's age alone, where others add up with the age.
  package var isOfOneAge = false
  /// Of a column without terms: the columns of the same row that make it up.
  package var derivation: Derivation?

  /// Whether no document states its values.
  package var isEstimated: Bool { terms.contains { $0.kind == .upgradeCredit } }

  /// The sum of some columns of a row, less the sum of others.
  package struct Derivation: Hashable, Sendable {
    /// The names of the columns that are added.
    package let plus: [String]
    /// The names of the columns that are subtracted.
    package let minus: [String]
    /// Whether it is 0 without conversion.
    package var isOfConversion = false
  }
}

extension ReportColumn {
  static func count(
    _ name: String, _ kinds: [Posting.Kind], span: Span = .bucket, role: Role = .value,
    reasons: Set<String>? = nil, ofCohort: Bool = false, less: [Posting.Kind] = [], _ definition: String
  ) -> ReportColumn {
    ReportColumn(
      name: name, unit: .count, role: role, span: span, definition: definition,
      terms: terms(.count, kinds, 1, reasons, ofCohort: ofCohort)
        + terms(.count, less, -1, reasons, ofCohort: ofCohort))
  }

  static func money(
    _ name: String, _ kinds: [Posting.Kind], unit: Unit = .money, span: Span = .bucket, role: Role = .value,
    reasons: Set<String>? = nil, ofCohort: Bool = false, ofOneAge: Bool = false, _ definition: String
  ) -> ReportColumn {
    ReportColumn(
      name: name, unit: unit, role: role, span: span, definition: definition,
      terms: terms(.amount, kinds, 1, reasons, ofCohort: ofCohort), isOfOneAge: ofOneAge)
  }

  /// A column that is computed from others by name: the sum of `plus` without that of `minus`. With
  /// `ofConversion`, only in queries that convert currencies.
  static func derived(
    _ name: String, _ plus: [String], minus: [String], unit: Unit, ofConversion: Bool = false,
    _ definition: String
  ) -> ReportColumn {
    ReportColumn(
      name: name, unit: unit, role: .value, span: .bucket, definition: definition, terms: [],
      derivation: Derivation(plus: plus, minus: minus, isOfConversion: ofConversion))
  }

  private static func terms(
    _ field: Term.Field, _ kinds: [Posting.Kind], _ sign: Int64, _ reasons: Set<String>?, ofCohort: Bool
  ) -> [Term] {
    kinds.map { Term(kind: $0, field: field, sign: sign, reasons: reasons, isOfCohort: ofCohort) }
  }
}
