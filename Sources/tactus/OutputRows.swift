import Essentials
import GatewayStatus

/// The outputs of a status as a table with one line each, trouble first.
struct OutputRows {
    /// The titles of the columns.
    let heading: String
    /// A line for each output, and how the output is doing.
    let rows: [(text: String, tone: Tone)]

    /// Makes the table.
    ///
    /// - Parameters:
    ///   - status: of the gateway.
    ///   - width: the number of characters that fit; nil for any number, without shortened names.
    init(_ status: Status, width: Int?) {
        let outputs = Self.troubleFirst(status)
        let cells = Column.allCases.map { column in outputs.map { column.text($0, status, width: width) } }
        var shown = Column.allCases.filter { $0 != .id || outputs.contains { !Self.saysItsID($0) } }
        var expendable = Column.expendable[...]
        let natural = zip(Column.allCases, cells).map { column, cells in
            max(column.width, column.title.count + 2, (cells.map(\.count).max() ?? 0) + 2)
        }
        // The space after the last column is not needed.
        while let width, shown.reduce(0, { $0 + natural[$1.rawValue] }) - 2 > width, let next = expendable.popFirst() {
            shown.removeAll { $0 == next }
        }
        func line(_ text: (Column) -> String) -> String {
            shown.map { $0 == shown.last ? text($0) : text($0).padded(to: natural[$0.rawValue]) }.joined()
        }
        heading = line(\.title)
        rows = outputs.indices.map { index in (line { cells[$0.rawValue][index] }, Self.tone(outputs[index])) }
    }

    /// Whether an output's ID is its name but for spaces and the like.
    private static func saysItsID(_ output: Status.Output) -> Bool {
        let (id, name) = (output.id, output.name.lowercased())
        return id.filter { $0.isLetter || $0.isNumber } == name.filter { $0.isLetter || $0.isNumber }
    }

    /// The outputs that the user should look at, then the others.
    private static func troubleFirst(_ status: Status) -> [Status.Output] {
        let warned = Set(status.warnings.compactMap(\.output))
        func rank(_ output: Status.Output) -> Int {
            if !output.enabled { return 4 }
            if output.port == nil { return 0 }
            if warned.contains(output.id) { return 1 }
            return output.lastMinute?.timing == .late ? 2 : 3
        }
        return (0...4).flatMap { wanted in status.outputs.filter { rank($0) == wanted } }
    }

    private static func tone(_ output: Status.Output) -> Tone {
        !output.enabled || output.muted ? .faint : output.connected ? .plain : .caution
    }

    private enum Column: Int, CaseIterable {
        case name, id, port, ticks, late, half, most, worst, offset, profile

        /// If there is no room for all columns, these are left out, in this order.
        static let expendable: [Column] = [.half, .worst, .profile, .ticks, .id, .most, .offset, .late, .port]

        var title: String {
            switch self {
            case .name: "OUTPUT"
            case .id: "ID"
            case .port: "PORT"
            case .ticks: "TICKS"
            case .late: "LATE"
            case .half: "HALF"
            case .most: "99 %"
            case .worst: "WORST"
            case .offset: "OFFSET"
            case .profile: "PROFILE"
            }
        }

        /// Least width; columns that change with the ticks keep theirs.
        var width: Int {
            switch self {
            case .port: 12
            case .ticks, .half, .most, .worst, .offset: 10
            case .late: 7
            case .name, .id, .profile: 0
            }
        }

        func text(_ output: Status.Output, _ status: Status, width: Int?) -> String {
            let lateness = output.latenessMicroseconds
            let text =
                switch self {
                case .name: name(output.name, width)
                case .id: output.id
                case .port: port(output, status, width)
                case .ticks: output.isAbsent ? "-" : "\(output.ticks)"
                case .late: late(output)
                case .half: lateness.map { spokenDuration($0.p50) } ?? "-"
                case .most: lateness.map { spokenDuration($0.p99) } ?? "-"
                case .worst: lateness.map { spokenDuration($0.max) } ?? "-"
                case .offset: "\(StatusText.decimals(output.offsetMilliseconds)) ms"
                case .profile: profile(output)
                }
            return text.withoutControls
        }

        /// Characters of a path that are shown if the width is limited; its end says most.
        private static let pathLength = 24

        private func name(_ name: String, _ width: Int?) -> String {
            guard let width else { return name }
            return name.hasPrefix("/")
                ? String(name.suffix(Self.pathLength)) : name.shortened(to: max(24, width * 2 / 5))
        }

        private func port(_ output: Status.Output, _ status: Status, _ width: Int?) -> String {
            guard output.enabled else { return "disabled" }
            let port = output.port.map { width == nil ? $0 : String($0.suffix(Self.pathLength)) } ?? "absent"
            let bent = output.bend.map { "\($0.milliseconds < 0 ? "" : "+")\(fixed($0.milliseconds, 0)) ms" }
            let entry = status.playing ? nil : output.changesAtBeat
            let enters = entry.map { "enters after \(StatusText.bars($0, quantum: status.quantum))" }
            return [port, output.muted ? "muted" : enters, bent].compactMap(\.self).joined(separator: ", ")
        }

        private func late(_ output: Status.Output) -> String {
            guard !output.isAbsent, output.soundCard == nil || output.skippedTicks > 0 else { return "-" }
            return output.skippedTicks > 0
                ? "\(output.lateTicks), \(output.skippedTicks) left out" : "\(output.lateTicks)"
        }

        private func profile(_ output: Status.Output) -> String {
            let rate = output.timeCode.map { ["time code \($0)"] } ?? []
            let card = output.soundCard.map { [StatusText.soundCard($0)] } ?? []
            return ([output.profile ?? "-"] + rate + card + StatusText.rateAndSwing(output)).joined(separator: ", ")
        }
    }
}
