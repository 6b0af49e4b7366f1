/// A few lines at the end of a terminal's output, redrawn in place.
struct Block {
    private let terminal: Terminal
    /// Number of lines above the cursor.
    private var height = 0

    init(on terminal: Terminal) { self.terminal = terminal }

    /// Replaces the shown lines.
    mutating func show(_ lines: [Line]) {
        let size = terminal.size
        let shown = lines.prefix(max(1, size.rows - 1)).map { $0.clipped(to: size.columns) }
        terminal.write(Self.redraw(over: min(height, size.rows - 1), shown, inColour: terminal.hasColour))
        height = shown.count
    }

    /// Tells the block that the cursor has moved down a line, because the user pressed Enter.
    mutating func shift() { height += 1 }

    /// The text that redraws lines in place of others; it prevents line wrapping.
    static func redraw(over height: Int, _ lines: [Line], inColour: Bool) -> String {
        let up = height > 0 ? "\u{1B}[\(height)A" : ""
        let drawn = lines.map { "\($0.rendered(inColour: inColour))\u{1B}[K\n" }.joined()
        return "\u{1B}[?7l\r\(up)\(drawn)\u{1B}[J\u{1B}[?7h"
    }
}
