import Glibc

/// A table in Markdown whose columns line up.
struct Table {
    private var rows: [[String]]

    init(_ heads: [String]) { rows = [heads] }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            "| " + row.indices.map { padded(row[$0], widths[$0]) }.joined(separator: " | ") + " |"
        }
        lines.insert("|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|", at: 1)
        return lines.joined(separator: "\n") + "\n"
    }

    private func padded(_ cell: String, _ width: Int) -> String {
        cell + String(repeating: " ", count: width - cell.count)
    }
}

/// A number with so many decimals; "never" for infinity.
func shown(_ value: Double, _ decimals: Int = 0) -> String {
    guard value.isFinite else { return value.isNaN ? "–" : "never" }
    let scale = (0..<decimals).reduce(1.0) { product, _ in product * 10 }
    let scaled = Int((abs(value) * scale).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard decimals > 0 else { return "\(sign)\(scaled)" }
    let digits = String(repeating: "0", count: max(0, decimals + 1 - "\(scaled)".count)) + "\(scaled)"
    return sign + digits.dropLast(decimals) + "." + digits.suffix(decimals)
}

/// Milliseconds of microseconds.
func milliseconds(_ microseconds: Double, _ decimals: Int = 2) -> String { shown(microseconds / 1_000, decimals) }

/// Writes a file as a whole; says whether it could.
func write(_ text: String, to path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    let isWritten = fputs(text, file) >= 0
    return fclose(file) == 0 && isWritten
}

func median(_ values: [Double]) -> Double { values.isEmpty ? .nan : values.sorted()[values.count / 2] }
