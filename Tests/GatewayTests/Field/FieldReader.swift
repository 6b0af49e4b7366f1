import Arbiter
import BeatTime
import ConfigurationFiles
import Essentials
import GatewayStatus
import MIDIClock

@testable import Gateway

/// Reads a field case; `Tests/Field/README.md` describes every line.
struct FieldReader {
    private var result: FieldCase
    /// Who sends what comes next.
    private var sender = Sender.leader(0)

    private enum Sender {
        case leader(Int)
        case port(String)
    }

    /// Most runs of one file.
    private static let mostRuns = 200

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - text: its contents.
    ///   - file: its name.
    /// - Returns: one case for each combination of the values that it gives by `for`; all of the same lines.
    /// - Throws: the first mistake.
    static func cases(in text: String, file: String) throws(FieldMistake) -> [FieldCase] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var runs: [[(name: String, value: String)]] = [[]]
        for (index, line) in lines.enumerated() where line.drop(while: \.isWhitespace).hasPrefix("for ") {
            let (name, values) = try values(line, file: file, line: index + 1)
            runs = runs.flatMap { run in values.map { run + [(name, $0)] } }
            guard runs.count <= mostRuns else {
                let text = "these are \(runs.count) runs with the values above; \(mostRuns) are allowed"
                throw FieldMistake(file: file, line: index + 1, column: 1, text: text)
            }
        }
        var cases: [FieldCase] = []
        for run in runs { cases.append(try one(lines, file: file, run)) }
        return cases
    }

    /// The values of a line such as `for tempo in 90, 120`.
    private static func values(
        _ text: String, file: String, line: Int
    ) throws(FieldMistake) -> (name: String, values: [String]) {
        var words = try FieldWords(text, file: file, line: line)
        try words.require("for")
        let name = try words.word("a name")
        try words.require("in")
        var values: [String] = []
        repeat { values.append(plain(try words.number("a value", in: -1e9...1e9))) } while words.take(",")
        try words.requireEnd()
        return (name, values)
    }

    private static func one(
        _ lines: [String], file: String, _ run: [(name: String, value: String)]
    ) throws(FieldMistake) -> FieldCase {
        var reader = FieldReader(result: FieldCase(file: file))
        reader.result.values = run.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
        let values = Dictionary(run.map { ($0.name, $0.value) }) { _, last in last }
        for (index, line) in lines.enumerated() {
            if try reader.takeProse(line, number: index + 1) { continue }
            var words = try FieldWords(line, file: file, line: index + 1, values: values)
            guard !words.isEmpty, !words.take("for") else { continue }
            try reader.take(&words)
            try words.requireEnd()
        }
        func missing(_ what: String) -> FieldMistake {
            FieldMistake(file: file, line: lines.count, column: 1, text: what)
        }
        guard !reader.result.source.isEmpty else {
            throw missing("a line 'source: …' is missing, with who has told it")
        }
        guard !reader.result.expectations.isEmpty else { throw missing("a line 'expect …' is missing") }
        return reader.result
    }

    // Lines whose rest is prose, or YAML as in a user's file.

    /// Takes a line such as `source: words`; returns false if it is of another kind.
    private mutating func takeProse(_ line: String, number: Int) throws(FieldMistake) -> Bool {
        let start = line.prefix { $0.isWhitespace }.count
        guard let colon = line.firstIndex(of: ":") else { return false }
        let key = line[..<colon].drop(while: \.isWhitespace)
        let rest = line[line.index(after: colon)...].drop(while: \.isWhitespace)
        let (file, column) = (result.file, line.count - rest.count + 1)
        let mistake = { (text: String) in FieldMistake(file: file, line: number, column: column, text: text) }
        switch key {
        case "source": result.source = String(rest)
        case "waits for": result.waitsFor = String(rest)
        case "control": result.controls += try Self.controls(String(rest), mistake)
        case "machine": result.machine = try Self.profile(String(rest), mistake)
        case "another machine": result.otherMachines.append(try Self.profile(String(rest), mistake))
        case "leader 1": result.leaderProfiles[0] = try Self.profile(String(rest), mistake)
        case "leader 2": result.leaderProfiles[1] = try Self.profile(String(rest), mistake)
        default: return false
        }
        guard start < line.count, !rest.isEmpty else { throw mistake("the text after '\(key):' is missing") }
        return true
    }

    /// One control as written; with several programs it is one for each.
    private static func controls(
        _ yaml: String, _ mistake: (String) -> FieldMistake
    ) throws(FieldMistake) -> [Control] {
        do {
            let text = "version: 1\ncontrols:\n  - \(yaml)\n"
            let controls = try ConfigurationFile(yaml: Array(text.utf8), file: "the control").controls
            guard !controls.isEmpty else { throw mistake("a control belongs here") }
            return controls
        } catch let error as FieldMistake {
            throw error
        } catch {
            throw mistake("a control belongs here as in a configuration file; \(error)")
        }
    }

    private static func profile(
        _ yaml: String, _ mistake: (String) -> FieldMistake
    ) throws(FieldMistake) -> String {
        do {
            _ = try ProfileLibrary.of(["test": yaml])
            return yaml
        } catch {
            throw mistake("a line of a profile belongs here; \(error)")
        }
    }

    // Lines of words.

    private mutating func take(_ words: inout FieldWords) throws(FieldMistake) {
        let place = FieldCase.Place(line: words.line, column: words.column)
        let first = try words.word("a word")
        switch first {
        case "seeds":
            let low = try words.integer("a seed", in: 1...10_000)
            try words.require("to")
            result.seeds = UInt64(low)...UInt64(try words.integer("a seed", in: low...10_000))
        case "gateway":
            try words.require("at")
            result.tempo = try bpm(&words)
        case "link":
            try words.require("on")
            result.isLinkOn = true
        case "peer":
            try words.require("at")
            result.peers.append(try bpm(&words))
            result.isLinkOn = true
        case "until": result.end = try words.seconds("a time")
        case "from": sender = try sender(&words)
        case "clock": try takeClock(&words)
        case "then", "lose", "double", "stall", "send":
            guard var clock = result.clocks.last else { throw words.mistake("a line 'clock …' belongs above") }
            try change(&clock, first, &words)
            result.clocks[result.clocks.count - 1] = clock
        case "at": try takeBytes(&words, place)
        case "tap": try takeTaps(&words, place)
        case "do": try takeCommand(&words, place)
        case "expect": try takeExpectation(&words, place)
        default:
            throw FieldMistake(
                file: result.file, line: place.line, column: place.column,
                text: "no line begins with '\(first)'; README.md lists those that there are")
        }
    }

    private func bpm(_ words: inout FieldWords) throws(FieldMistake) -> Double {
        let tempo = try words.number("a tempo", in: 5...999)
        _ = words.take("bpm")
        return tempo
    }

    private func sender(_ words: inout FieldWords) throws(FieldMistake) -> Sender {
        if words.take("leader") { return .leader(try words.integer("1 or 2", in: 1...2) - 1) }
        try words.require("pedal")
        return .port(try words.quoted("the name of its port"))
    }

    // A leader's clock.

    private mutating func takeClock(_ words: inout FieldWords) throws(FieldMistake) {
        guard case .leader(let leader) = sender else {
            throw words.mistake("a pedal has no clock; 'from leader 1' belongs above")
        }
        var clock = FieldClock(leader: leader, start: 1, parts: [try part(&words)])
        while !words.isAtEnd {
            if words.take("at") {
                clock.start = try words.seconds("when it begins")
            } else if words.take("swing") {
                clock.swing = try words.share("a share")
            } else if words.take("jitter") {
                clock.way.jitter = try words.seconds("a standard deviation")
            } else if words.take("late", "up", "to") {
                clock.way.lateness = try words.seconds("how late at most")
            } else if words.take("grid") {
                clock.way.period = try period(&words)
            } else if words.take("packets") {
                clock.way.period = try words.seconds("a packet's period")
                clock.way.gap = 0.000_03
            } else if words.take("phase") {
                clock.way.phase = try words.number("a part of a period", in: 0...1)
            } else if words.take("missed") {
                clock.way.missed = min(try words.share("a share"), 0.9)
            } else if words.take("radio") {
                clock.way.radio = try words.seconds("how late at most")
            } else if words.take("twice", "after") {
                clock.way.copy = max(try words.seconds("when the second copy comes"), 0.000_1)
            } else if words.take("gap") {
                clock.way.gap = try words.seconds("the shortest time between two messages")
            } else {
                throw words.mistake(
                    "one of these belongs here: at, swing, jitter, late up to, grid, packets, phase, missed, radio, "
                        + "twice after, gap")
            }
        }
        result.clocks.append(clock)
    }

    /// Frames of audio and their rate, as 256/48000, in seconds.
    private func period(_ words: inout FieldWords) throws(FieldMistake) -> Double {
        let mistake = words.mistake("frames and their rate belong here, as 256/48000")
        let parts = try words.word("a period, as 256/48000").split(separator: "/").compactMap { Double($0) }
        guard parts.count == 2, parts[0] >= 1, parts[1] >= 1 else { throw mistake }
        return parts[0] / parts[1]
    }

    /// `120 bpm for 8 beats`, `120 to 140 bpm for 4 beats` or `silence for 2 s`.
    private func part(_ words: inout FieldWords) throws(FieldMistake) -> FieldClock.Part {
        if words.take("silence") {
            try words.require("for")
            return FieldClock.Part(beatsPerMinute: nil, length: try words.seconds("how long"))
        }
        let from = try words.number("a tempo", in: 5...2_000)
        let to = words.take("to") ? try words.number("a tempo", in: 5...2_000) : from
        try words.require("bpm")
        try words.require("for")
        let beats = try words.number("how many beats", in: 0.04...10_000)
        try words.require("beats")
        return FieldClock.Part(beatsPerMinute: min(from, to)...max(from, to), rises: to >= from, length: beats)
    }

    /// Takes the rest of a line that changes a clock, after its first word.
    private func change(
        _ clock: inout FieldClock, _ first: String, _ words: inout FieldWords
    ) throws(FieldMistake) {
        switch first {
        case "then": clock.parts.append(try part(&words))
        case "lose": clock.lost.formUnion(try ticks(&words, of: clock))
        case "double": clock.doubled.formUnion(try ticks(&words, of: clock))
        case "stall":
            let length = try words.seconds("how long")
            try words.require("after")
            try words.require("tick")
            clock.stalls[try words.integer("a tick", in: 0...max(0, clock.truth.count - 1))] = length
        default: clock.sends.append(try send(&words, of: clock))
        }
    }

    /// `tick 300` or `ticks 300 to 303`.
    private func ticks(_ words: inout FieldWords, of clock: FieldClock) throws(FieldMistake) -> ClosedRange<Int> {
        let last = max(0, clock.truth.count - 1)
        if words.take("tick") {
            let tick = try words.integer("a tick", in: 0...last)
            return tick...tick
        }
        try words.require("ticks")
        let low = try words.integer("a tick", in: 0...last)
        try words.require("to")
        return low...(try words.integer("a tick", in: low...last))
    }

    /// `FA at 2.5 s`, `FA with tick 48` or `FA 0.6 ms before tick 48`.
    private func send(_ words: inout FieldWords, of clock: FieldClock) throws(FieldMistake) -> FieldClock.Send {
        let mistake = words.mistake("FA, FB, FC or a song position such as F2 10 00 belongs here")
        let messages = Self.messages(of: Self.bytes(&words))
        guard messages.count == 1, messages[0] != .timingClock else { throw mistake }
        let last = max(0, clock.truth.count - 1)
        if words.take("at") {
            return FieldClock.Send(message: messages[0], moment: .at(try words.seconds("a time")))
        }
        if words.take("with", "tick") {
            let tick = try words.integer("a tick", in: 0...last)
            return FieldClock.Send(message: messages[0], moment: .before(tick: tick, 0))
        }
        let lead = try words.seconds("'at' and a time, 'with tick', or a time and 'before tick'")
        try words.require("before")
        try words.require("tick")
        let tick = try words.integer("a tick", in: 0...last)
        return FieldClock.Send(message: messages[0], moment: .before(tick: tick, lead))
    }

    // Bytes, taps and commands.

    /// The bytes that come next, each of two hexadecimal digits.
    private static func bytes(_ words: inout FieldWords) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            var ahead = words
            guard let word = try? ahead.word("a byte"), word.count == 2, let byte = UInt8(word, radix: 16) else {
                return bytes
            }
            bytes.append(byte)
            words = ahead
        }
    }

    private static func messages(of bytes: [UInt8]) -> [ClockMessage] {
        var parser = ClockByteParser()
        return bytes.compactMap { parser.received($0) }
    }

    /// Takes the rest of a line such as `at 2 s: B0 40 7F, 200 ms, B0 40 00`.
    private mutating func takeBytes(_ words: inout FieldWords, _ place: FieldCase.Place) throws(FieldMistake) {
        var time = try words.seconds("a time")
        try words.require(":")
        repeat {
            var ahead = words
            if let wait = try? ahead.seconds("a time") {
                time += wait
                words = ahead
                continue
            }
            let mistake = words.mistake("bytes such as F8 or B0 40 7F belong here, or a time to wait such as 3 ms")
            let bytes = Self.bytes(&words)
            switch sender {
            case .leader(let leader):
                let messages = Self.messages(of: bytes)
                guard !messages.isEmpty else { throw mistake }
                for message in messages {
                    result.events.append(.init(time: time, deed: .hears(message, leader: leader), place: place))
                }
            case .port(let port):
                guard let message = Self.press(bytes) else { throw mistake }
                result.events.append(.init(time: time, deed: .presses(message, port: port), place: place))
            }
        } while words.take(",")
    }

    /// The channel message of these bytes, as the sequencer would report it.
    private static func press(_ bytes: [UInt8]) -> ChannelMessage? {
        guard let status = bytes.first, bytes.dropFirst().allSatisfy({ $0 < 128 }) else { return nil }
        let (kind, count): (ChannelMessage.Kind, Int)
        switch status >> 4 {
        case 0x8, 0x9: (kind, count) = (.note, 3)
        case 0xB: (kind, count) = (.controller, 3)
        case 0xC: (kind, count) = (.program, 2)
        default: return nil
        }
        guard bytes.count == count else { return nil }
        let value = status >> 4 == 0x8 ? 0 : count == 3 ? Int(bytes[2]) : 127
        return ChannelMessage(kind, Int(bytes[1]), channel: Int(status & 0xF) + 1, value: value)
    }

    /// Takes the rest of `tap at 2 s, 2.469 s` or `tap 128 bpm 8 times from 2 s`.
    private mutating func takeTaps(_ words: inout FieldWords, _ place: FieldCase.Place) throws(FieldMistake) {
        var times: [Double] = []
        if words.take("at") {
            repeat { times.append(try words.seconds("a time")) } while words.take(",")
        } else {
            let beat = 60 / (try bpm(&words))
            let count = try words.integer("how many taps", in: 1...100)
            try words.require("times")
            try words.require("from")
            let start = try words.seconds("a time")
            times = (0..<count).map { start + Double($0) * beat }
        }
        result.events += times.map { .init(time: $0, deed: .taps, place: place) }
    }

    /// Takes the rest of `do play at 8 s` or `do play at 8 s refused "a text"`.
    private mutating func takeCommand(_ words: inout FieldWords, _ place: FieldCase.Place) throws(FieldMistake) {
        let command = try command(&words)
        try words.require("at")
        let time = try words.seconds("a time")
        let refusal = words.take("refused") ? try words.quoted("a text of the refusal") : nil
        result.events.append(.init(time: time, deed: .commands(command, refusal: refusal), place: place))
    }

    private func command(_ words: inout FieldWords) throws(FieldMistake) -> Command {
        let mistake = words.mistake("play, stop, toggle-play, undo, tempo, follow, link or sync belongs here")
        switch try words.word("a command") {
        case "play": return .setPlaying(true)
        case "stop": return .setPlaying(false)
        case "toggle-play": return .togglePlaying
        case "undo": return .undo
        case "tempo": return .setTempo(Tempo(beatsPerMinute: try bpm(&words)))
        case "link": return .enableLink(try isOn(&words))
        case "sync": return .enableStartStopSync(try isOn(&words))
        case "follow":
            let unclear = words.mistake("auto, off or a port belongs here")
            guard let choice = try? FollowChoice(try words.word("auto, off or a port")) else { throw unclear }
            return .follow(choice)
        default: throw mistake
        }
    }

    private func isOn(_ words: inout FieldWords) throws(FieldMistake) -> Bool {
        if words.take("on") { return true }
        try words.require("off")
        return false
    }

    // Expectations.

    private mutating func takeExpectation(_ words: inout FieldWords, _ place: FieldCase.Place) throws(FieldMistake) {
        let mistake = words.mistake(
            "one of these belongs here: starts, stops, continues, moves, tempo, locked tempo, every tempo, gaps even, "
                + "place, mode, playing, stopped, note, no note, taps")
        let what: FieldCase.Expectation.What
        var needsTime = false
        switch try words.word("what to expect") {
        case "starts": what = .count(.start, try words.integer("how many", in: 0...10_000))
        case "stops": what = .count(.stop, try words.integer("how many", in: 0...10_000))
        case "continues": what = .count(.continue, try words.integer("how many", in: 0...10_000))
        case "moves": what = .moves(try moves(&words))
        case "tempo":
            let tempo = try bpm(&words)
            what = .tempo(tempo, within: try within(&words))
            needsTime = true
        case "locked":
            try words.require("tempo")
            what = .lockedTempo(within: try within(&words))
        case "every":
            try words.require("tempo")
            var tempos: [Double] = []
            repeat { tempos.append(try bpm(&words)) } while words.take(",") || words.take("or")
            try words.require("within")
            what = .everyTempo(tempos, within: try words.share("a share"))
        case "gaps":
            try words.require("even")
            try words.require("within")
            what = .evenGaps(within: try words.seconds("a time"))
        case "place":
            try words.require("within")
            let distance = try words.seconds("a time")
            what = .place(within: distance, early: words.take(",") ? try early(&words) : 0)
        case "mode":
            let unclear = words.mistake("link, follow or internal belongs here")
            guard let mode = Mode(rawValue: try words.word("a mode")) else { throw unclear }
            what = .mode(mode)
            needsTime = true
        case "playing":
            what = .playing(true)
            needsTime = true
        case "stopped":
            what = .playing(false)
            needsTime = true
        case "note": what = .note(try words.quoted("a text"), isThere: true)
        case "no":
            try words.require("note")
            what = .note(try words.quoted("a text"), isThere: false)
        case "taps":
            let counted = try words.integer("how many taps agree", in: 0...16)
            try words.require("of")
            what = .taps(counted: counted, wanted: try words.integer("how many are wanted", in: 1...16))
            needsTime = true
        default: throw mistake
        }
        let during = try during(&words, isRequired: needsTime)
        result.expectations.append(.init(what: what, during: during, place: place))
    }

    private func early(_ words: inout FieldWords) throws(FieldMistake) -> Double {
        let time = try words.seconds("a time")
        try words.require("early")
        return time
    }

    private func within(_ words: inout FieldWords) throws(FieldMistake) -> Double {
        try words.require("within")
        let distance = try words.number("a distance in BPM", in: 0...999)
        _ = words.take("bpm")
        return distance
    }

    private func moves(_ words: inout FieldWords) throws(FieldMistake) -> [ClockMessage] {
        let all: [String: ClockMessage] = ["start": .start, "stop": .stop, "continue": .continue]
        var moves: [ClockMessage] = []
        while !words.isAtEnd {
            let mistake = words.mistake("start, stop or continue belongs here")
            guard let move = all[try words.word("a move")] else { throw mistake }
            moves.append(move)
        }
        return moves
    }

    /// `at 5 s`, `from 5 s`, `from 5 s to 8 s`, `until 8 s` or `after 4 beats` of the clock above.
    private func during(_ words: inout FieldWords, isRequired: Bool) throws(FieldMistake) -> ClosedRange<Double> {
        let always = 0.0...Double.infinity
        if words.isAtEnd, !isRequired { return always }
        if words.take("at") {
            let time = try words.seconds("a time")
            return time...time
        }
        if words.take("until") { return 0...(try words.seconds("a time")) }
        if words.take("from") {
            let mistake = words.mistake("the first time must not be later than the second")
            let start = try words.seconds("a time")
            guard words.take("to") else { return start...Double.infinity }
            let end = try words.seconds("a time")
            guard start <= end else { throw mistake }
            return start...end
        }
        guard words.take("after") else {
            throw words.mistake("a time belongs here: at 5 s, from 5 s to 8 s, until 8 s, or after 4 beats")
        }
        guard let clock = result.clocks.last else { throw words.mistake("a line 'clock …' belongs above") }
        let truth = clock.truth
        let mistake = words.mistake("the clock above has \(truth.count / 24) beats")
        let tick = Int((try words.number("how many beats", in: 0...10_000) * 24).rounded())
        try words.require("beats")
        guard truth.indices.contains(tick) else { throw mistake }
        return truth[tick]...clock.end
    }
}

/// A number as people write it.
private func plain(_ value: Double) -> String { value == value.rounded() ? "\(Int(value))" : "\(value)" }
