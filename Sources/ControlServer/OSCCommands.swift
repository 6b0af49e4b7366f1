internal import BeatTime
package import Gateway
internal import MIDIClock
package import OpenSoundControl

/// Why a message is not a command, as a clause that says what would be right.
package struct OSCError: Error, Hashable, Sendable, CustomStringConvertible {
    package var description: String
}

extension OSCMessage {
    /// The command that this message means; a slash at the end of the address changes nothing.
    ///
    /// - Returns: nil for the release of a button, which many controllers send as 0.
    /// - Throws: when no command has that address, or the values are wrong.
    package func command() throws(OSCError) -> Command? {
        switch address.count > 1 && address.hasSuffix("/") ? String(address.dropLast()) : address {
        case "/tactus/play": isPressed ? .setPlaying(true) : nil
        case "/tactus/stop": isPressed ? .setPlaying(false) : nil
        case "/tactus/toggle-play": isPressed ? .togglePlaying : nil
        case "/tactus/tap": isPressed ? .tap(at: nil) : nil
        case "/tactus/tempo-step": try tempoStep()
        case "/tactus/half-tempo": isPressed ? .scaleTempo(by: 0.5) : nil
        case "/tactus/double-tempo": isPressed ? .scaleTempo(by: 2) : nil
        case "/tactus/undo": isPressed ? .undo : nil
        case "/tactus/toggle-link": isPressed ? .toggleLink : nil
        case "/tactus/realign": output(0) != nil || isPressed ? .realign(output: output(0), .atBar) : nil
        case "/tactus/mute": .mute(output: output(1), try isOn() ? .on : .off(afterBars: 0))
        case "/tactus/enter":
            .mute(output: output(1), .off(afterBars: Int(try number(.entryBars))))
        case "/tactus/bend":
            .bend(output: output(1), percent: try number(.bend), for: Command.bendTime)
        case "/tactus/count-in": .countIn(bars: Int(try number(.countIn)))
        case "/tactus/link": .enableLink(try isOn())
        case "/tactus/start-stop-sync": .enableStartStopSync(try isOn())
        case "/tactus/tempo":
            .setTempo(Tempo(beatsPerMinute: try number(.tempo)))
        case "/tactus/quantum": .setQuantum(Beats(try number(.quantum)))
        case "/tactus/nudge":
            .adjust(output: output(1), OutputAdjustment(nudge: try number(.nudge)))
        case "/tactus/follow": .follow(try followChoice())
        default: throw OSCError(description: "there is no OSC address \(name)")
        }
    }

    /// The address, shortened for a log; not in characters, since one of those may be of any length.
    private var name: String { String(address.unicodeScalars.prefix(60)) }

    private var isPressed: Bool { number != 0 }

    /// The ID or name of an output, if given.
    private func output(_ index: Int) -> String? {
        guard arguments.indices.contains(index), case .text(let text) = arguments[index] else { return nil }
        return text
    }

    /// The first value as a number, which some senders write as a text; nil if it is none.
    private var number: Double? {
        switch arguments.first {
        case .number(let value): value
        case .text(let text): text.isEmpty ? nil : Double(text)
        case .other, nil: nil
        }
    }

    private func number(_ range: CommandRange) throws(OSCError) -> Double {
        guard let number, range.contains(number) else { throw OSCError(description: "\(name) takes \(range.words)") }
        return number
    }

    /// A switch: any number but 0 turns it on, as controllers send 1 or 127.
    private func isOn() throws(OSCError) -> Bool {
        if let number, number.isFinite { return number != 0 }
        switch arguments.first {
        case .text("on"), .text("true"): return true
        case .text("off"), .text("false"): return false
        default: throw OSCError(description: "\(name) takes 1 or 0")
        }
    }

    /// A step of the tempo; nil when a button is released, which sends 0.
    private func tempoStep() throws(OSCError) -> Command? {
        let step = try number(.tempoStep)
        return step == 0 ? nil : .stepTempo(by: step)
    }

    private func followChoice() throws(OSCError) -> FollowChoice {
        guard case .text(let text) = arguments.first else {
            throw OSCError(description: "\(name) takes a text: auto, off, or a port such as TR-8S")
        }
        do {
            return try FollowChoice(text)
        } catch {
            throw OSCError(description: "\(name): \(error)")
        }
    }
}
