import ClockMeter
import Essentials
import Glibc

/// Draws a clock's figures as a self-contained SVG: intervals over time, and the distribution of errors.
enum MonitorPlot {
    private static let width = 920.0
    private static let left = 78.0
    private static let right = 900.0
    private static let upper = 78.0...318.0
    private static let lower = 384.0...584.0

    /// Draws the figures.
    ///
    /// - Parameters:
    ///   - figures: of a finished measurement.
    ///   - name: the clock's name.
    /// - Returns: SVG that can be a file, or a part of a page.
    static func svg(_ figures: ClockFigures, of name: String) -> String {
        picture(
            height: 632, of: "Intervals and tick errors of \(name)",
            """
            \(text(left, 30, escaped(name), "title"))
            \(text(left, 52, escaped(MonitorText.line(figures)), "faint"))
            \(intervals(figures))
            \(errors(figures.histogram))
            """)
    }

    /// An SVG picture with the styles common to all plots.
    ///
    /// - Parameters:
    ///   - height: its height; its width is 920.
    ///   - title: a description, for people who cannot see it.
    ///   - content: SVG markup.
    /// - Returns: SVG that can be a file, or a part of a page.
    static func picture(height: Int, of title: String, _ content: String) -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(height)" role="img" \
        aria-label="\(escaped(title))">
        <style>
        svg { background: #fff; font: 13px system-ui, sans-serif } text { fill: #222 }
        .title { font-size: 18px; font-weight: 600 } .faint { fill: #666 } .end { text-anchor: end }
        .middle { text-anchor: middle } .grid { stroke: #ddd } .zero { stroke: #888 }
        .data { stroke: #0b6bcb; stroke-width: 1.5; stroke-linecap: round; fill: none } .bar { fill: #0b6bcb }
        .dots { stroke-width: 5 }
        @media (prefers-color-scheme: dark) {
        svg { background: #16181c } text { fill: #e8e8e8 } .faint { fill: #a0a0a0 } .grid { stroke: #33363c }
        .zero { stroke: #777 } .data { stroke: #6cb2ff } .bar { fill: #6cb2ff } }
        </style>
        \(content)
        </svg>

        """
    }

    private static func intervals(_ figures: ClockFigures) -> String {
        let heading = text(left, upper.lowerBound - 8, "interval less its mean, over time", "faint")
        guard let last = figures.trace.last, let first = figures.trace.first else { return heading }
        let times = Axis(
            first.fromSecond...max(last.fromSecond + last.seconds, first.fromSecond + 1), onto: (left, right))
        let largest = figures.trace.reduce(1) { max($0, abs($1.leastMicroseconds), abs($1.greatestMicroseconds)) }
        let deviations = Axis(-largest...largest, onto: (upper.upperBound, upper.lowerBound))
        let path = figures.trace.map { span in
            let x = place(times.position(span.fromSecond + span.seconds / 2))
            // A single value is drawn as a dot: a line of length 0 with round ends.
            return "M\(x) \(place(deviations.position(span.leastMicroseconds)))"
                + "V\(place(deviations.position(span.greatestMicroseconds)))"
        }
        let rows = deviations.marks(about: 5).map { mark in
            let y = deviations.position(mark)
            return line(left, y, right, y, mark == 0 ? "zero" : "grid")
                + text(left - 8, y + 4, MonitorText.signed(mark), "faint end")
        }
        let seconds = times.marks(about: 8).map { mark in
            text(times.position(mark), upper.upperBound + 20, "\(StatusText.decimals(mark)) s", "faint middle")
        }
        return heading + (rows + seconds).joined(separator: "\n") + #"<path class="data" d="\#(path.joined())"/>"#
    }

    private static func errors(_ bins: [ClockFigures.Bin]) -> String {
        let heading = text(left, lower.lowerBound - 12, "ticks by how early or late they came", "faint")
        guard let first = bins.first, let last = bins.last, let most = bins.map(\.ticks).max(), most > 0 else {
            return heading
        }
        let errors = Axis(first.fromMicroseconds...(last.fromMicroseconds + last.microseconds), onto: (left, right))
        let counts = Axis(0...Double(most), onto: (lower.upperBound, lower.lowerBound))
        let rows = counts.marks(about: 4).map { mark in
            let y = counts.position(mark)
            return line(left, y, right, y, mark == 0 ? "zero" : "grid")
                + text(left - 8, y + 4, fixed(mark, 0), "faint end")
        }
        let bars = bins.filter { $0.ticks > 0 }.map { bin in
            let (x, y) = (errors.position(bin.fromMicroseconds), counts.position(Double(bin.ticks)))
            let width = errors.position(bin.fromMicroseconds + bin.microseconds) - x
            return #"<rect class="bar" x="\#(place(x + 0.5))" y="\#(place(y))" width="\#(place(max(1, width - 1)))" "#
                + #"height="\#(place(lower.upperBound - y))"/>"#
        }
        let marks = errors.marks(about: 8).map { mark in
            text(errors.position(mark), lower.upperBound + 20, MonitorText.signed(mark), "faint middle")
        }
        return heading + (rows + bars + marks).joined(separator: "\n")
    }

    static func text(_ x: Double, _ y: Double, _ words: String, _ kind: String) -> String {
        #"<text x="\#(place(x))" y="\#(place(y))" class="\#(kind)">\#(words)</text>"#
    }

    static func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ kind: String) -> String {
        #"<line x1="\#(place(x1))" y1="\#(place(y1))" x2="\#(place(x2))" y2="\#(place(y2))" class="\#(kind)"/>"#
    }

    static func place(_ value: Double) -> String { fixed(value, 1) }

    /// Text, escaped for markup.
    static func escaped(_ text: String) -> String {
        text.withoutControls.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}

/// The scale of an axis.
struct Axis {
    private let values: ClosedRange<Double>
    private let start: Double
    private let scale: Double

    init(_ values: ClosedRange<Double>, onto pixels: (from: Double, to: Double)) {
        self.values = values
        start = pixels.from
        scale = (pixels.to - pixels.from) / max(values.upperBound - values.lowerBound, .leastNormalMagnitude)
    }

    /// The position of a value on the axis.
    func position(_ value: Double) -> Double { start + (value - values.lowerBound) * scale }

    /// Round values on the axis, about as many as requested.
    func marks(about count: Double) -> [Double] {
        let rough = (values.upperBound - values.lowerBound) / count
        let power = pow(10, log10(max(rough, .leastNormalMagnitude)).rounded(.down))
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough } ?? power
        let first = Int((values.lowerBound / step).rounded(.up))
        let last = Int((values.upperBound / step).rounded(.down))
        return first <= last ? (first...last).map { Double($0) * step } : []
    }
}
