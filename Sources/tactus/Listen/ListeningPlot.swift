import Essentials
import Listening
import SoundCalibration

/// A plot of a machine's delays, hit by hit.
enum ListeningPlot {
    private static let (left, right, top, bottom) = (78.0, 900.0, 78.0, 338.0)

    /// Draws the plot as SVG: delays in us or ms upwards, beats from left to right.
    static func svg(_ result: ListeningFigures, of name: String) -> String {
        let delays = result.hits.map(\.microseconds)
        let (least, greatest) = (delays.min() ?? 0, delays.max() ?? 0)
        let margin = max(50, (greatest - least) / 10)
        let delayAxis = Axis(least - margin...greatest + margin, onto: (bottom, top))
        let beatAxis = Axis(0...Double(max(1, result.hits.last?.beat ?? 1)), onto: (left, right))
        let rows = delayAxis.marks(about: 6).map { mark in
            let y = delayAxis.position(mark)
            return MonitorPlot.line(left, y, right, y, mark == 0 ? "zero" : "grid")
                + MonitorPlot.text(left - 8, y + 4, MonitorText.signed(mark), "faint end")
        }
        let columns = beatAxis.marks(about: 8).map {
            MonitorPlot.text(beatAxis.position($0), bottom + 20, StatusText.decimals($0), "faint middle")
        }
        // A line of length 0 with round ends is a dot.
        let path = result.hits.map { hit in
            let (x, y) = (beatAxis.position(Double(hit.beat)), delayAxis.position(hit.microseconds))
            return "M\(MonitorPlot.place(x)) \(MonitorPlot.place(y))h0"
        }
        let caption =
            "delay of each hit by beat; median \(MonitorText.signed((result.delayMicroseconds / 10).rounded() * 10)), spread "
            + spokenDuration(result.spreadMicroseconds)
        return MonitorPlot.picture(
            height: 380, of: "Delays of \(name)",
            """
            \(MonitorPlot.text(left, 30, MonitorPlot.escaped(name), "title"))
            \(MonitorPlot.text(left, 52, caption, "faint"))
            \((rows + columns).joined(separator: "\n"))<path class="data dots" d="\(path.joined())"/>
            """)
    }
}
