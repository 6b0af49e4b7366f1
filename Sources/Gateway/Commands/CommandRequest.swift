internal import BeatTime
internal import Essentials
internal import MIDIClock

/// The paths under `/api/v1/` at which commands are taken.
package enum CommandPath: String, CaseIterable, Hashable, Sendable {
    case link
    case startStopSync = "start-stop-sync"
    case transport
    case tempo
    case tap
    case follow
    case quantum
    case nudge
    case undo
    case realign
    case mute
    case bend
    /// Settings of one output.
    case output = "outputs/:id"
    case outputRealign = "outputs/:id/realign"
    case outputMute = "outputs/:id/mute"
    case outputBend = "outputs/:id/bend"

    /// Whether the method is PATCH; that of all others is POST.
    package var isPatch: Bool { self == .output }

    /// Whether an output is named in the path.
    package var namesOutput: Bool { rawValue.hasPrefix("outputs/") }
}

/// A command as clients send it by HTTP, and as the server reads it.
package struct CommandRequest: Hashable, Sendable {
    package let path: CommandPath
    /// The output in the path, if that has one.
    package let output: String?
    package let body: CommandBody

    /// The path under `/api/v1/`, with the output's name in it.
    package var address: String { path.rawValue.replacing(":id", with: output?.percentEncoded ?? "") }

    fileprivate init(_ path: CommandPath, output: String? = nil, _ body: [String: CommandBody.Scalar] = [:]) {
        (self.path, self.output, self.body) = (path, output, CommandBody(body))
    }

    /// A request for all outputs, or for one if that is named.
    fileprivate init(
        _ all: CommandPath, or one: CommandPath, _ output: String?, _ body: [String: CommandBody.Scalar] = [:]
    ) {
        self.init(output == nil ? all : one, output: output, body)
    }
}

extension Command {
    /// How a client asks for this command; nil for those that only controls, OSC or the gateway itself give.
    package var request: CommandRequest? {
        switch self {
        case .enableLink(let isOn): CommandRequest(.link, ["enabled": .boolean(isOn)])
        case .enableStartStopSync(let isOn): CommandRequest(.startStopSync, ["enabled": .boolean(isOn)])
        case .setPlaying(let isPlaying): CommandRequest(.transport, ["playing": .boolean(isPlaying)])
        case .countIn(let bars):
            CommandRequest(.transport, ["playing": .boolean(true), "countInBars": .number(Double(bars))])
        case .setTempo(let tempo): CommandRequest(.tempo, ["bpm": .number(tempo.beatsPerMinute)])
        case .stepTempo(let step): CommandRequest(.tempo, ["step": .number(step)])
        case .scaleTempo(let factor): CommandRequest(.tempo, ["scale": .number(factor)])
        case .tap(let time):
            CommandRequest(.tap, time.map { ["milliseconds": .number(Double($0.microseconds) / 1_000)] } ?? [:])
        case .follow(let choice): CommandRequest(.follow, ["source": .text(choice.text)])
        case .setQuantum(let quantum): CommandRequest(.quantum, ["beats": .number(quantum.value)])
        case .adjust(let output, let change): change.request(output)
        case .realign(let output, let when):
            CommandRequest(.realign, or: .outputRealign, output, ["when": .text(when == .now ? "now" : "bar")])
        case .mute(let output, .on): CommandRequest(.mute, or: .outputMute, output, ["muted": .boolean(true)])
        case .mute(let output, .off(let bars)):
            CommandRequest(
                .mute, or: .outputMute, output, ["muted": .boolean(false), "afterBars": .number(Double(bars))])
        case .mute(let output, .toggle): CommandRequest(.mute, or: .outputMute, output)
        case .bend(let output, let percent, _, _):
            CommandRequest(.bend, or: .outputBend, output, ["percent": .number(percent)])
        case .undo: CommandRequest(.undo)
        case .toggleLink, .togglePlaying, .configure: nil
        }
    }

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - path: where it came in.
    ///   - output: the output in that path, if it has one.
    ///   - json: the body.
    /// - Throws: what is wrong with the body.
    package init(_ path: CommandPath, output: String?, _ json: some Collection<UInt8>) throws(BadCommand) {
        switch path {
        case .link: self = .enableLink(try CommandBody(["enabled"], in: json).required("enabled").boolean())
        case .startStopSync:
            self = .enableStartStopSync(try CommandBody(["enabled"], in: json).required("enabled").boolean())
        case .transport:
            let body = try CommandBody(["playing", "countInBars"], in: json)
            let isPlaying = try body.required("playing").boolean()
            let bars = try body.optional("countInBars")?.number(.countIn)
            guard isPlaying || bars == nil else { throw .badValue("countInBars: only with playing true") }
            self = bars.map { .countIn(bars: Int($0)) } ?? .setPlaying(isPlaying)
        case .tempo: self = try Self.tempo(try CommandBody(["bpm", "step", "scale"], isOne: true, in: json))
        case .tap:
            // By the sender's own clock, which no network delay disturbs.
            let time = try CommandBody(optional: ["milliseconds"], in: json).optional("milliseconds")
            let microseconds = try time.map { time throws(BadCommand) in try time.number(in: 0...1e15) * 1_000 }
            self = .tap(at: microseconds.map { HostTime(microseconds: Int64($0.rounded())) })
        case .follow: self = .follow(try CommandBody(["source"], in: json).required("source").followChoice())
        case .quantum:
            self = .setQuantum(Beats(try CommandBody(["beats"], in: json).required("beats").number(.quantum)))
        case .nudge: self = try Self.nudge(try CommandBody(["milliseconds", "set", "reset", "output"], in: json))
        case .undo:
            _ = try CommandBody(optional: [], in: json)
            self = .undo
        case .realign, .outputRealign:
            let when = try CommandBody(optional: ["when"], in: json).optional("when")
            self = .realign(output: output, try when?.choice(among: ["bar": .atBar, "now": .now]) ?? .atBar)
        case .mute, .outputMute:
            let body = try CommandBody(optional: ["muted", "afterBars"], in: json)
            let isMuted = try body.optional("muted")?.boolean()
            let bars = try body.optional("afterBars")?.number(.entryBars)
            guard bars == nil || isMuted == false else { throw .badValue("afterBars: only with muted false") }
            self = .mute(output: output, isMuted.map { $0 ? .on : .off(afterBars: Int(bars ?? 0)) } ?? .toggle)
        case .bend, .outputBend:
            let percent = try CommandBody(["percent"], in: json).required("percent").number(.bend)
            self = .bend(output: output, percent: percent, for: Self.bendTime)
        case .output:
            self = .adjust(output: output, try OutputAdjustment(try CommandBody(OutputAdjustment.keys, in: json)))
        }
    }

    /// `{"bpm":128}` sets the tempo, `{"step":-1}` adds to it, and `{"scale":2}` or 0.5 doubles or halves it.
    private static func tempo(_ body: CommandBody) throws(BadCommand) -> Command {
        switch try body.only(of: ["bpm", "step", "scale"]) {
        case "step": .stepTempo(by: try body.required("step").number(.tempoStep))
        case "scale": .scaleTempo(by: try body.required("scale").number(among: 0.5, 2))
        default: .setTempo(Tempo(beatsPerMinute: try body.required("bpm").number(.tempo)))
        }
    }

    /// `{"milliseconds":1}` adds to offsets, `{"set":-3}` sets them, and `{"reset":true}` resets them to the configured
    /// ones; of all outputs, or of that in `output`.
    private static func nudge(_ body: CommandBody) throws(BadCommand) -> Command {
        let output = try body.optional("output")?.text()
        switch try body.only(of: ["milliseconds", "set", "reset"]) {
        case "set": return .adjust(output: output, OutputAdjustment(offset: try body.required("set").number(.offset)))
        case "reset":
            guard try body.required("reset").boolean() else { throw .badValue("reset: true") }
            return .adjust(output: output, OutputAdjustment(resetsOffset: true))
        default:
            let nudge = try body.required("milliseconds").number(.nudge)
            return .adjust(output: output, OutputAdjustment(nudge: nudge))
        }
    }
}

extension OutputAdjustment {
    fileprivate static let keys = [
        "offsetMilliseconds", "multiply", "divide", "swing", "range", "enabled", "markSeconds",
    ]

    fileprivate init(_ body: CommandBody) throws(BadCommand) {
        self.init(
            offset: try body.optional("offsetMilliseconds")?.number(.offset),
            multiply: try body.optional("multiply").map { value throws(BadCommand) in Int(try value.number(.multiply))
            },
            divide: try body.optional("divide").map { value throws(BadCommand) in Int(try value.number(.divide)) },
            swing: try body.optional("swing")?.number(.swing),
            range: try body.optional("range")?.octave(in: .deviceTempo),
            isEnabled: try body.optional("enabled")?.boolean(),
            markSeconds: try body.optional("markSeconds").map { value throws(BadCommand) in
                Int(try value.number(.markTime))
            })
    }

    /// A request for this change; nil for a shift, for a nudge or reset beside other settings, and for other settings of
    /// all outputs.
    fileprivate func request(_ output: String?) -> CommandRequest? {
        let name: [String: CommandBody.Scalar] = output.map { ["output": .text($0)] } ?? [:]
        if self == OutputAdjustment(nudge: nudge), let nudge {
            return CommandRequest(.nudge, name.merging(["milliseconds": .number(nudge)]) { $1 })
        }
        if self == OutputAdjustment(offset: offset), let offset {
            return CommandRequest(.nudge, name.merging(["set": .number(offset)]) { $1 })
        }
        if self == OutputAdjustment(resetsOffset: true) {
            return CommandRequest(.nudge, name.merging(["reset": .boolean(true)]) { $1 })
        }
        guard let output, shift == nil, nudge == nil, !resetsOffset else { return nil }
        let values: [String: CommandBody.Scalar?] = [
            "offsetMilliseconds": offset.map { .number($0) }, "multiply": multiply.map { .number(Double($0)) },
            "divide": divide.map { .number(Double($0)) }, "swing": swing.map { .number($0) },
            "range": range.map { .numbers([$0.lowerBound, $0.upperBound]) },
            "enabled": isEnabled.map { .boolean($0) }, "markSeconds": markSeconds.map { .number(Double($0)) },
        ]
        return CommandRequest(.output, output: output, values.compactMapValues { $0 })
    }
}
