import AppStore
import AppStoreReports
import Testing

/// Days of Apple's zone and months of its fiscal calendar.
@Suite struct CalendarTests {
  @Test(
    "A day in Pacific Time starts at 7:00 or 8:00 UTC, and is shorter or longer when the clocks change",
    arguments: [
      ("2026-10-24", "2026-10-24T07:00:00Z", 24), ("2026-01-15", "2026-01-15T08:00:00Z", 24),
      ("2026-03-08", "2026-03-08T08:00:00Z", 23), ("2026-03-09", "2026-03-09T07:00:00Z", 24),
      ("2026-11-01", "2026-11-01T07:00:00Z", 25), ("2026-11-02", "2026-11-02T08:00:00Z", 24),
      ("2027-03-14", "2027-03-14T08:00:00Z", 23), ("2028-11-05", "2028-11-05T07:00:00Z", 25),
    ])
  func pacificDays(_ day: String, _ start: String, _ hours: Int64) throws {
    let day = try #require(CalendarDay(day))
    let begin = ReportZone.pacific.start(of: day)
    #expect(begin == Instant(rfc3339: start))
    let end = ReportZone.pacific.start(of: day.advanced(by: 1))
    #expect(end.milliseconds(since: begin) == hours * 3_600_000)
    #expect(ReportZone.pacific.day(of: begin) == day)
    #expect(ReportZone.pacific.day(of: end.advanced(byMilliseconds: -1)) == day)
    #expect(ReportZone.pacific.day(of: begin.advanced(byMilliseconds: -1)) == day.advanced(by: -1))
  }

  @Test("All spellings of a day are read, and others are not")
  func spellings() {
    let day = CalendarDay("2026-10-24")
    #expect(CalendarDay("20261024") == day)
    #expect(CalendarDay("10/24/2026") == day)
    #expect(day?.description == "2026-10-24")
    #expect(day?.usualText == "10/24/2026")
    for text in ["", "2026-13-01", "2026-02-30", "24.10.2026", "2026-10", "a/b/c"] {
      #expect(CalendarDay(text) == nil)
    }
  }

  @Test(
    "Fiscal months have the days of Apple's fiscal calendar",
    arguments: [
      ("2023-01", "2022-09-25", "2022-10-29"), ("2023-03", "2022-11-27", "2022-12-31"),
      ("2023-12", "2023-09-03", "2023-09-30"), ("2024-01", "2023-10-01", "2023-11-04"),
      ("2025-12", "2025-08-31", "2025-09-27"), ("2026-01", "2025-09-28", "2025-11-01"),
      ("2026-02", "2025-11-02", "2025-11-29"), ("2026-12", "2026-08-30", "2026-09-26"),
    ])
  func fiscalMonths(_ name: String, _ first: String, _ last: String) throws {
    let month = try #require(FiscalMonth(name))
    #expect(month.firstDay.description == first)
    #expect(month.lastDay.description == last)
    #expect(FiscalMonth(containing: month.firstDay) == month)
    #expect(FiscalMonth(containing: month.lastDay) == month)
    #expect(month.description == name)
  }

  @Test("Each day of 60 years is in one fiscal month, and the months follow each other")
  func everyDay() throws {
    var day = try #require(CalendarDay("2000-09-24"))
    var month = FiscalMonth(containing: day)
    while day.number < 60 * 365 {
      let next = FiscalMonth(containing: day.advanced(by: 1))
      if next != month {
        #expect(day == month.lastDay)
        #expect(next.firstDay == day.advanced(by: 1))
        #expect(month < next)
        month = next
      }
      day = day.advanced(by: 1)
    }
  }
}

/// The text of reports.
@Suite struct TabularTextTests {
  @Test("A report is read by the names of its columns, without regard to case, and written again")
  func columns() {
    let report = TabularText(parsing: "\u{FEFF}App Name\tUNITS\r\nocean \t 3\r\n\r\nlake\t4\n")
    #expect(report.rows.map { report.value("Units", in: $0) } == ["3", "4"])
    #expect(report.value("app name", in: report.rows[0]) == "ocean")
    #expect(report.value("Price", in: report.rows[0]).isEmpty)
    #expect(TabularText(parsing: report.text) == report)
  }

  @Test("Lines of totals at the end of a finance report are left out")
  func totals() {
    let header = AppStoreReport.finance.columns.joined(separator: "\t")
    let line = AppStoreReport.finance.columns.map { _ in "1" }.joined(separator: "\t")
    let report = TabularText(parsing: "\(header)\n\(line)\nTotal_Rows\t1\nTotal_Amount\t6.99\n")
    #expect(report.rows.count == 1)
  }

  @Test(
    "Amounts are thousandths",
    arguments: [
      ("9.99", 9990), ("-2.99", -2990), ("0.005", 5), ("1,234.5", 1_234_500), ("7", 7000), (".5", 500),
      ("6.9935", 6994),
    ])
  func amounts(_ text: String, _ thousandths: Int64) { #expect(Amount.thousandths(text) == thousandths) }

  @Test("A text that is no amount is refused", arguments: ["", "-", "a", "1.2.3", "1e5", "--1"])
  func noAmounts(_ text: String) { #expect(Amount.thousandths(text) == nil) }

  @Test("Amounts are written with two decimals")
  func written() {
    #expect(
      [9990, -2990, 6993, 5, -4, 0].map(Amount.text) == ["9.99", "-2.99", "6.99", "0.01", "0.00", "0.00"])
  }

  @Test("Countries have a code with two and one with three letters")
  func countries() {
    #expect(Countries.threeLetters("US") == "USA")
    #expect(Countries.threeLetters("deu") == "DEU")
    #expect(Countries.twoLetters("GBR") == "GB")
    #expect(Countries.threeLetters("XX") == nil)
  }
}
