/// A QR code of some bytes, as a square of dark and light modules.
///
/// Model 2 in byte mode, versions 1 to 10, error correction L or M, as in ISO/IEC 18004. Version 10 holds 271 bytes,
/// enough for a panel's address with a token of 200 characters, and takes 65 columns and 33 lines of a terminal.
package struct QRCode: Hashable, Sendable {
    /// How much of a code may be unreadable.
    package enum Correction: Hashable, Sendable, CaseIterable {
        /// About 7 %.
        case low
        /// About 15 %.
        case medium
    }

    /// 1 to 10.
    package let version: Int
    package let correction: Correction
    /// 0 to 7.
    package let mask: Int
    private let modules: ModuleGrid

    /// Modules on each side, without the quiet zone: 21 to 57.
    package var size: Int { modules.size }

    /// Most bytes that a code can hold.
    package static let capacity = Layout.all.last?.capacity(.low) ?? 0

    /// Makes the smallest code, with the better correction if that needs no larger one.
    ///
    /// - Parameter bytes: at most ``capacity``; else the result is nil.
    package init?(_ bytes: [UInt8]) {
        guard let layout = Layout.all.first(where: { $0.capacity(.low) >= bytes.count }) else { return nil }
        self.init(bytes, layout, layout.capacity(.medium) >= bytes.count ? .medium : .low)
    }

    private init(_ bytes: [UInt8], _ layout: Layout, _ correction: Correction) {
        version = layout.version
        self.correction = correction
        var plain = ModuleGrid(layout)
        plain.place(layout.interleaved(layout.dataCodewords(bytes, correction), correction))
        let masked = (0..<8).map { plain.masked($0, correction) }
        let penalties = masked.map(\.penalty)
        let best = penalties.indices.min { penalties[$0] < penalties[$1] } ?? 0
        mask = best
        modules = masked[best]
    }

    /// Whether a module is dark; coordinates outside of the code are light.
    package func isDark(x: Int, y: Int) -> Bool {
        (0..<size).contains(x) && (0..<size).contains(y) && modules[x, y]
    }
}

extension QRCode {
    /// Lines of text that show the code, two rows of modules in each, with a quiet zone of four modules around it.
    ///
    /// There are five quiet rows below, to fill the last line.
    /// Light modules are drawn, so the text must be light on a dark ground.
    package var lines: [String] {
        let quiet = 4
        return stride(from: -quiet, to: size + quiet, by: 2).map { y in
            String(
                (-quiet..<size + quiet).map { x -> Character in
                    switch (isDark(x: x, y: y), isDark(x: x, y: y + 1)) {
                    case (false, false): "█"
                    case (false, true): "▀"
                    case (true, false): "▄"
                    case (true, true): " "
                    }
                })
        }
    }
}
