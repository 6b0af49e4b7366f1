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
    ///
    /// Mode, tempo and transport always stay at the top. If space is short, facts are left out first, then empty lines;
    /// then the outputs and warnings that do not fit are counted.
    func lines(_ size: Terminal.Size) -> [Line] {
        let rows = max(0, size.rows)
        let parts = spacious(size) ?? compact(size)
        let foot = parts.foot.suffix(max(0, rows - parts.head.count))
        let gap = Array(repeating: "" as Line, count: max(0, rows - parts.head.count - parts.body.count - foot.count))
        return (parts.head + parts.body + gap + foot).prefix(rows).map { $0.clipped(to: size.columns) }
    }

    /// A screen from the top, and what is at its bottom.
    private typealias Parts = (head: [Line], body: [Line], foot: [Line])

    /// Everything with empty lines between, and as many facts as there is room for; nil if the rest does not fit.
    private func spacious(_ size: Terminal.Size) -> Parts? {
        let head = header(size.columns) + trouble(size.columns)
        let foot = (said == nil ? [""] : result(size.columns)) + keys(size.columns)
        let warnings = status.warnings.flatMap { Self.spacious($0, size.columns) }
        let body = [""] + outputs(size.columns) + (warnings.isEmpty ? [] : [""] + warnings)
        let room = size.rows - head.count - body.count - foot.count
        return room < 0 ? nil : (head, Line.cut(facts(size.columns), to: room) + body, foot)
    }

    /// One line at the top, then outputs and warnings without empty lines; what does not fit is counted.
    private func compact(_ size: Terminal.Size) -> Parts {
        let head = [summary(size.columns)] + trouble(size.columns)
        let foot = result(size.columns) + keys(size.columns)
        var room = max(0, size.rows - head.count - foot.count)
        let all = status.warnings.map { Self.compact($0, size.columns) }
        // Warnings may push outputs aside, but not the first few of them.
        let (rest, least) = (room - all.joined().count, min(Self.leastOutputRows, room / 2))
        let outputs = cut(outputs(size.columns), to: all.isEmpty ? room : max(rest, least))
        let warnings = Self.cut(all, to: room - outputs.count)
        room -= outputs.count + warnings.count
        let bar = room > 0 ? [bar(size.columns)] : []
        // In fewer rows, facts would only be counted.
        let facts = room > 4 ? Line.cut(facts(size.columns), to: room - 1) : []
        return (head, bar + facts + outputs + warnings, foot)
    }

    /// Rows of outputs that warnings leave, if the terminal has twice as many.
    private static let leastOutputRows = 6

    /// The rows of outputs that fit, and how many outputs are not among them.
    private func cut(_ table: [Line], to room: Int) -> [Line] {
        guard table.count > room else { return table }
        guard room > 0 else { return [] }
        // With so little room, the heading is of no use.
        let kept = (room < 4 ? table.dropFirst() : table[...]).prefix(room - 1)
        let missing = status.outputs.count - kept.count + (room < 4 ? 0 : 1)
        return kept + [Self.remainder(missing, status.outputs.count, "output")]
    }

    /// The warnings that fit, and how many others there are; only one that is too long by itself is cut.
    private static func cut(_ warnings: [[Line]], to room: Int) -> [Line] {
        let all = Array(warnings.joined())
        guard all.count > room else { return all }
        guard room > 0 else { return [] }
        var kept: [[Line]] = []
        for warning in warnings {
            guard kept.joined().count + warning.count < room else { break }
            kept.append(warning)
        }
        if kept.isEmpty { kept = [Array(warnings[0].prefix(warnings.count == 1 ? room : room - 1))] }
        let missing = warnings.count - (kept.joined().isEmpty ? 0 : kept.count)
        return kept.joined() + (missing > 0 ? [remainder(missing, warnings.count, "warning")] : [])
    }

    private static func remainder(_ missing: Int, _ total: Int, _ noun: String) -> Line {
        let text =
            missing < total ? "and \(StatusText.counted(missing, "more \(noun)"))" : StatusText.counted(total, noun)
        return Line("  \(text)", .faint)
    }

    private func trouble(_ columns: Int) -> [Line] { trouble.map { Line.wrapped($0, .bad, to: columns) } ?? [] }

    private func result(_ columns: Int) -> [Line] { said.map { Line.wrapped($0, .caution, to: columns) } ?? [] }

    /// What the keys do, in as few lines as possible.
    private func keys(_ columns: Int) -> [Line] {
        let undo = status.undo.map { ["u undo: \($0)"] } ?? []
        var lines: [String] = []
        for key in Self.keys + undo + ["q quit"] {
            if let line = lines.last, line.count + 2 + key.count <= columns {
                lines[lines.count - 1] = "\(line)  \(key)"
            } else {
                lines.append(key)
            }
        }
        return lines.map { Line($0, .faint) }
    }

    private static let keys = ["space play/stop", "t tap", "+ - nudge", "r realign", "l Link", "s start/stop sync"]

    /// The most important in one line.
    private func summary(_ columns: Int) -> Line {
        let tempo = Line(StatusText.shownTempo(status, decimals: 2).padded(to: 13), .strong)
        let rest = "  beat \(StatusText.barAndBeat(moved))".padded(to: 14) + StatusText.peers(status.link.peers)
        let line =
            Line(" \(status.mode.rawValue) ", .strong) + Line("  ") + tempo + transport.padded(to: 8) + Line(rest)
        return withAddress(line, columns)
    }

    /// A line with the gateway's address at its end, if there is room.
    private func withAddress(_ line: Line, _ columns: Int) -> Line {
        let start = columns - address.count
        return line.count + 2 > start ? line : line.padded(to: start) + Line(address, .faint)
    }

    private func header(_ columns: Int) -> [Line] {
        let mode = Line(" \(status.mode.rawValue) ", .strong) + Line(" \(status.reason)")
        let tempo = Line("  \(StatusText.shownTempo(status, decimals: 2))".padded(to: 16), .strong)
        let position = Line("beat \(StatusText.barAndBeat(moved))".padded(to: 14), .strong)
        return [
            withAddress(mode, columns), "", tempo + position + transport, bar(columns),
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
    private func bar(_ columns: Int) -> Line {
        let width = min(columns - 4, 66)
        let length = status.quantum > 0 ? min(status.quantum, 64) : 1
        let phase = status.quantum > 0 ? moved.phase : moved.beat - moved.beat.rounded(.down)
        guard width >= 8, phase.isFinite, length.isFinite else { return "" }
        let filled = Int((max(0, min(1, phase / length)) * Double(width)).rounded(.down))
        let marks = Set((0..<Int(length.rounded(.up))).map { Int((Double($0) / length * Double(width)).rounded()) })
        let cells = (0..<width).map { $0 <= filled ? "█" : marks.contains($0) ? "│" : "·" }
        return Line("  ") + Line(cells[...filled.clamped(to: width)].joined(), status.playing ? .good : .plain)
            + Line(cells[filled.clamped(to: width)...].dropFirst().joined(), .faint)
    }

    private func facts(_ columns: Int) -> [Line] {
        var rows = [("Link", StatusText.link(status.link), status.link.connected ? Tone.good : .plain)]
        if !status.link.interfaces.isEmpty {
            rows.append(("networks", status.link.interfaces.joined(separator: ", "), .plain))
        }
        rows.append(("follower", StatusText.follower(status.follower), status.follower.state == .lost ? .bad : .plain))
        rows += status.follower.refused.map { ("ignored", StatusText.ignored($0), .caution) }
        if let change = status.link.lastChange { rows.append(("changed", PeersText.text(change), .plain)) }
        let isOnTime = status.realtime.priority > 0
        rows.append(("real time", StatusText.realtime(status.realtime), isOnTime ? .plain : .caution))
        return rows.flatMap { Line.wrapped($0.1, $0.2, after: Line("  " + $0.0.padded(to: 11), .faint), to: columns) }
    }

    private func outputs(_ columns: Int) -> [Line] {
        guard !status.outputs.isEmpty else { return [Line("  \(StatusText.noOutputs)", .faint)] }
        let table = OutputRows(status, width: columns - 2)
        return [Line("  \(table.heading)", .faint)] + table.rows.map { Line("  \($0.text)", $0.tone) }
    }

    private static func spacious(_ warning: Status.Warning, _ columns: Int) -> [Line] {
        Line.wrapped(warning.message, .caution, after: Line("  ! ", .caution), to: columns)
            + Line.wrapped(warning.fix, after: "    ", to: columns)
    }

    private static func compact(_ warning: Status.Warning, _ columns: Int) -> [Line] {
        let isSentence = warning.message.last.map { ".?!".contains($0) } ?? false
        let text = warning.message + (isSentence ? " " : "; ") + warning.fix
        return Line.wrapped(text, .caution, after: Line("! ", .caution), to: columns)
    }
}

extension Int {
    /// An index into a row of `count` cells.
    fileprivate func clamped(to count: Int) -> Int { Swift.max(0, Swift.min(self, count - 1)) }
}
