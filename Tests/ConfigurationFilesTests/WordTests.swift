import Testing

@testable import ConfigurationFiles

@Suite struct WordTests {
    @Test(
        arguments: [
            ("offset", "offset"), ("ofset", "offset"), ("fofset", "offset"), ("Offset", "offset"),
            ("offsett", "offset"),
            ("song_position", "song-position"), ("songposition", "song-position"), ("son-gposition", "song-position"),
            ("song", "song-position"), ("stp", "stop"), ("sotp", "stop"), ("loudness", nil), ("", nil), ("s", nil),
            ("so", nil),
            ("stopstopstop", nil),
        ] as [(String, String?)])
    func `the nearest word is the one a person would suggest`(written: String, meant: String?) {
        #expect(NearestWord.to(written, among: ["offset", "song-position", "stop", "lead"]) == meant)
    }

    @Test func `a word as long as a book has no nearest word`() {
        #expect(NearestWord.to(String(repeating: "offset", count: 10_000), among: ["offset"]) == nil)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("1.5", 1_500), ("-1.234", -1_234), ("+.001", 1), ("9223372036854775.807", Int64.max),
            ("-9223372036854775.808", Int64.min), ("1.5000000000000000000000", 1_500),
        ] as [(String, Int64)])
    func `a number is exact`(text: String, thousandths: Int64) {
        #expect(Decimal.read(text, decimals: 3) == .parts(thousandths))
    }

    @Test(arguments: [
        ("", Decimal.Reading.noNumber), ("-", .noNumber), (".", .noNumber), ("--1", .noNumber), ("1.2.3", .noNumber),
        ("1e3", .noNumber), ("٣", .noNumber), ("1 ", .noNumber), ("1_000", .noNumber), ("1,5", .withComma),
        (",", .noNumber), ("1,2,3", .noNumber), ("0.0001", .tooFine), ("9223372036854775.808", .tooLarge),
    ])
    func `invalid and unsuitable numbers are told apart`(text: String, reading: Decimal.Reading) {
        #expect(Decimal.read(text, decimals: 3) == reading)
    }

    @Test(arguments: [(0, "0"), (-1, "-0.001"), (1_500, "1.5"), (500_000, "500"), (Int64.min, "-9223372036854775.808")])
    func `a number is written in its shortest form`(thousandths: Int64, text: String) {
        #expect(Decimal.text(thousandths, decimals: 3) == text)
    }
}
