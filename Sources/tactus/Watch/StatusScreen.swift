import Essentials
import GatewayStatus

/// A gateway's status as a full screen: like the panel, readable across a dark stage.
struct StatusScreen {
    var status: Status
    /// Age of the status in seconds; the beat continues meanwhile.
    var age: Double
    /// Why there is no newer status; nil while the gateway answers.
    var trouble: String?
    /// The result of the last key.
    var said: String?
    /// Address of the gateway.
    var address: String

    /// Seconds without an update after which the beat is frozen.
    private static let longestAge = 2.0

    /// The lines of a screen, at most its number of rows.
    func lines(_ size: Terminal.Size) -> [Line] {
        let head = header(size.columns) + (trouble.map { [Line($0, .bad)] } ?? [])
        let foot = [Line(said ?? "", .caution), Line(Self.keys, .faint)]
        // If space is short, warnings are more important than facts.
        let parts = [warnings, outputs, facts]
        var room = max(0, size.rows - head.count - foot.count)
        var shown: [[Line]] = []
        for part in parts {
            let lines = part.isEmpty ? [] : Line.cut(part, to: room)
            shown.append(lines)
            room -= lines.count
        }
        let body = Array(shown.reversed().joined())
        let gap = Array(repeating: "" as Line, count: max(0, size.rows - head.count - body.count - foot.count))
        return (head + body + gap + foot).suffix(max(0, size.rows)).map { $0.clipped(to: size.columns) }
    }

    private static let keys =
        "space play/stop  t tap  + - nudge  r realign  l Link  s start/stop sync  q quit"

    private func header(_ columns: Int) -> [Line] {
        let mode = Line(" \(status.mode.rawValue) ", .strong) + Line(" \(status.reason)")
        let tempo = Line("  \(fixed(status.tempo, 2)) BPM".padded(to: 16), .strong)
        let position = Line("beat \(StatusText.barAndBeat(moved))".padded(to: 14), .strong)
        return [
            mode.padded(to: columns - address.count - 1) + Line(address, .faint), "",
            tempo + position + transport, bar(min(columns - 4, 66)),
        ]
    }

    private var transport: Line {
        let text = StatusText.transport(status)
        return switch status.transport {
        case .playing: Line(text, .good)
        case .pending: Line(text, .caution)
        case .stopped: Line(text, .faint)
        }
    }

    /// The status with its beat at the present time.
    private var moved: Status {
        var moved = status
        let beats = min(max(age, 0), Self.longestAge) * status.tempo / 60
        moved.beat += beats
        moved.phase = status.quantum > 0 ? (status.phase + beats).truncatingRemainder(dividingBy: status.quantum) : 0
        return moved
    }

    /// The position in the quantum, with a mark at every beat.
    private func bar(_ width: Int) -> Line {
        let length = status.quantum > 0 ? min(status.quantum, 64) : 1
        let phase = status.quantum > 0 ? moved.phase : moved.beat - moved.beat.rounded(.down)
        guard width >= 8, phase.isFinite, length.isFinite else { return "" }
        let filled = Int((max(0, min(1, phase / length)) * Double(width)).rounded(.down))
        let marks = Set((0..<Int(length.rounded(.up))).map { Int((Double($0) / length * Double(width)).rounded()) })
        let cells = (0..<width).map { $0 <= filled ? "█" : marks.contains($0) ? "│" : "·" }
        return Line("  ") + Line(cells[...filled.clamped(to: width)].joined(), status.playing ? .good : .plain)
            + Line(cells[filled.clamped(to: width)...].dropFirst().joined(), .faint)
    }

    private var facts: [Line] {
        var rows = [("Link", StatusText.link(status.link), status.link.connected ? Tone.good : .plain)]
        if !status.link.interfaces.isEmpty {
            rows.append(("networks", status.link.interfaces.joined(separator: ", "), .plain))
        }
        rows.append(("follower", StatusText.follower(status.follower), status.follower.state == .lost ? .bad : .plain))
        rows += status.follower.refused.map { ("ignored", StatusText.ignored($0), .caution) }
        if let change = status.link.lastChange { rows.append(("changed", PeersText.text(change), .plain)) }
        let isOnTime = status.realtime.priority > 0
        rows.append(("real time", StatusText.realtime(status.realtime), isOnTime ? .plain : .caution))
        return rows.map { Line("  " + $0.0.padded(to: 11), .faint) + Line($0.1, $0.2) }
    }

    private var outputs: [Line] {
        guard !status.outputs.isEmpty else { return [Line("  no outputs; connect a device", .faint)] }
        let table = [Self.titles.map { $0.text }] + status.outputs.map(Self.cells)
        // Columns that change with the ticks keep their width.
        let widths = Self.titles.indices.map { column in
            max(Self.titles[column].width, table.map { $0[column].count + 2 }.max() ?? 0)
        }
        return zip(table, [Tone.faint] + status.outputs.map(Self.tone)).map { cells, tone in
            Line("  " + zip(cells, widths).map { $0.padded(to: $1) }.joined(), tone)
        }
    }

    private static let titles: [(text: String, width: Int)] = [
        ("OUTPUT", 8), ("PORT", 12), ("TICKS", 10), ("LATE", 7), ("HALF", 10), ("99 %", 10),
        ("WORST", 10), ("OFFSET", 10), ("PROFILE", 0),
    ]

    private static func cells(_ output: Status.Output) -> [String] {
        let port = output.enabled ? output.port ?? "absent" : "disabled"
        let lateness = output.latenessMicroseconds
        let figures = [lateness?.p50, lateness?.p99, lateness?.max].map { $0.map(spokenDuration) ?? "-" }
        let profile = (output.muted ? ["muted"] : []) + [output.profile ?? "-"] + StatusText.rateAndSwing(output)
        let offset = "\(StatusText.decimals(output.offsetMilliseconds)) ms"
        // The end of a path says most.
        let name = output.name.hasPrefix("/") ? output.name.suffix(24) : output.name.prefix(24)
        let counts = output.isAbsent ? ["-", "-"] : ["\(output.ticks)", "\(output.lateTicks)"]
        return [String(name), String(port.suffix(24))] + counts + figures + [offset, profile.joined(separator: ", ")]
    }

    private static func tone(_ output: Status.Output) -> Tone {
        !output.enabled || output.muted ? .faint : output.connected ? .plain : .caution
    }

    private var warnings: [Line] {
        status.warnings.flatMap { [Line("  ! \($0.message)", .caution), Line("    \($0.fix)")] }
    }
}

extension Int {
    /// An index into a row of `count` cells.
    fileprivate func clamped(to count: Int) -> Int { Swift.max(0, Swift.min(self, count - 1)) }
}
