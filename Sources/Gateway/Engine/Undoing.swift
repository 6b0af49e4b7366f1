internal import Arbiter
internal import BeatTime
internal import Essentials
internal import LinkNetwork

/// The last change by a command, so that it can be taken back.
///
/// Steps of the same kind within ``runTime`` count as one change, and so does a run of taps. There is one level:
/// undoing twice redoes.
struct Undoing: Sendable {
    private(set) var last: Change?
    /// Whether the next step of the same kind may be merged with the last change.
    private var isOpen = false

    /// Longest time between changes that are undone together, in microseconds.
    private static let runTime: Int64 = 2_000_000

    struct Change: Hashable, Sendable {
        /// What the setting was.
        var before: Setting
        /// What it was set to.
        var after: Setting
        /// When it was last set.
        var at: HostTime
        /// How it was last set.
        var kind: Kind
    }

    /// How a setting is changed: steps of one kind belong together, whoever makes them.
    enum Kind: Hashable, Sendable {
        /// Sets a value, such as a field or a slider.
        case value
        /// Adds to it.
        case step
        /// Doubles or halves it.
        case scale
        case tap
        /// Turns it to the other position.
        case toggle
    }

    /// A setting that a command can change, with a value.
    enum Setting: Hashable, Sendable {
        case tempo(Tempo)
        case quantum(Beats)
        case follow(FollowChoice)
        case link(Bool)
        case startStopSync(Bool)
        case playing(Bool)
        /// The outputs that the command means, and the names of the settings that it changes.
        case outputs([OutputTable.LiveChanges], changing: [String])

        /// Forgets where devices were to enter in a song that has ended.
        fileprivate mutating func songEnded() {
            guard case .outputs(var outputs, let settings) = self else { return }
            for index in outputs.indices { outputs[index].muted.songMoved(isSame: false) }
            self = .outputs(outputs, changing: settings)
        }

        /// Whether a setting is the same one, with whatever value; play and stop are never steps of one change.
        func isSame(as other: Setting) -> Bool {
            switch (self, other) {
            case (.tempo, .tempo), (.quantum, .quantum), (.follow, .follow), (.link, .link),
                (.startStopSync, .startStopSync):
                true
            case (.outputs(let ours, let settings), .outputs(let theirs, let others)):
                settings == others && ours.map(\.occupant) == theirs.map(\.occupant)
            default: false
            }
        }
    }

    /// Takes a change that a command has made.
    mutating func note(_ change: Change) {
        defer { isOpen = true }
        guard let last, isOpen, last.before.isSame(as: change.before), last.after == change.before,
            last.kind == change.kind,
            change.kind == .tap || last.at.microseconds(to: change.at) <= Self.runTime
        else {
            self.last = change
            return
        }
        var whole = change
        whole.before = last.before
        self.last = last.before == change.after ? nil : whole
    }

    /// Notes that another song plays, or none.
    mutating func songEnded() {
        guard var change = last else { return }
        change.before.songEnded()
        change.after.songEnded()
        last = change.before == change.after ? nil : change
    }

    /// Makes the next change one of its own.
    mutating func end() { isOpen = false }

    /// Forgets the last change.
    mutating func clear() { last = nil }

    /// Remembers a change again after undoing it has failed.
    mutating func keep(_ change: Change) { last = change }
}

// Taking back what commands have changed.
extension GatewayEngine {
    /// The present value of what a command is about to change; nil if it cannot be taken back.
    func setting(of command: Command) -> Undoing.Setting? {
        switch command {
        case .setTempo, .stepTempo, .scaleTempo, .tap: .tempo(arbiter.expectedTempo.asStated)
        case .setQuantum: .quantum(arbiter.quantum)
        case .follow: .follow(inputs.sources.choice)
        case .enableLink, .toggleLink: .link(arbiter.wantsLink)
        case .enableStartStopSync: .startStopSync(wantsStartStopSync)
        case .setPlaying, .togglePlaying, .countIn: .playing(arbiter.expectsToPlay)
        case .mute(let name, _): .outputs(outputs.liveChanges(of: name), changing: ["mute"])
        case .adjust(let name, let change):
            change.settings.isEmpty ? nil : .outputs(outputs.liveChanges(of: name), changing: change.settings)
        case .realign, .bend, .configure, .undo: nil
        }
    }

    /// The present value of a setting.
    private func present(_ setting: Undoing.Setting) -> Undoing.Setting {
        switch setting {
        case .tempo: .tempo(arbiter.expectedTempo.asStated)
        case .quantum: .quantum(arbiter.quantum)
        case .follow: .follow(inputs.sources.choice)
        case .link: .link(arbiter.wantsLink)
        case .startStopSync: .startStopSync(wantsStartStopSync)
        case .playing: .playing(arbiter.expectsToPlay)
        case .outputs(let outputs, let settings):
            .outputs(self.outputs.liveChanges(ofSame: outputs), changing: settings)
        }
    }

    /// Notes what a command has changed.
    mutating func noteChange(from before: Undoing.Setting, by kind: Undoing.Kind, at now: HostTime) {
        let after = present(before)
        guard after != before else { return }
        undoing.note(Undoing.Change(before: before, after: after, at: now, kind: kind))
        isStatusStale = true
    }

    /// Takes the last change back.
    mutating func undo(_ token: ReplyToken?, at now: HostTime) throws(CommandError) {
        guard let last = undoing.last else { throw .nothingToUndo }
        if let obstacle = obstacle(toUndoing: last) { throw obstacle }
        undoing.clear()
        do throws(CommandError) {
            try restore(last.before, token, at: now)
        } catch {
            undoing.keep(last)
            throw error
        }
        // What comes next is no part of this change.
        undoing.end()
        isStatusStale = true
    }

    /// Why a change cannot be taken back; nil if it can.
    private func obstacle(toUndoing change: Undoing.Change) -> CommandError? {
        switch change.after {
        case .tempo(let tempo):
            if let leader = arbiter.leaderName { return .notLeader(leader) }
            let present = arbiter.expectedTempo
            guard present.microsecondsPerBeat != tempo.microsecondsPerBeat else { return nil }
            return .changedSince("the tempo was set to \(tempo.text) BPM, and is \(present.text) BPM now")
        case .playing(let isPlaying):
            if let leader = arbiter.transportLeaderName { return .notTransportLeader(leader) }
            guard arbiter.expectsToPlay != isPlaying else { return nil }
            return .changedSince("the song was \(isPlaying ? "stopped" : "started") by somebody else")
        case .outputs(let outputs, _):
            return self.outputs.liveChanges(ofSame: outputs).isEmpty
                ? .changedSince("the output that was changed is gone") : nil
        // Only commands change these, so the last change is of what there is now.
        case .quantum, .follow, .link, .startStopSync: return nil
        }
    }

    private mutating func restore(
        _ setting: Undoing.Setting, _ token: ReplyToken?, at now: HostTime
    ) throws(CommandError) {
        switch setting {
        case .tempo(let tempo): try perform(.setTempo(tempo.clamped), token, at: now)
        case .quantum(let quantum): try perform(.setQuantum(quantum), token, at: now)
        case .follow(let choice): try perform(.follow(choice), token, at: now)
        case .link(let isOn): try perform(.enableLink(isOn), token, at: now)
        case .startStopSync(let isOn): try perform(.enableStartStopSync(isOn), token, at: now)
        case .playing(let isPlaying): try perform(.setPlaying(isPlaying), token, at: now)
        case .outputs(let before, let settings):
            let present = present(setting)
            outputs.restore(before, settings, in: songPlace(at: now))
            adjusted(at: now)
            noteChange(from: present, by: .value, at: now)
            reply(.success(()), to: token)
        }
    }

    /// What an undo would do, in a few words; nil if there is nothing to undo, or an obstacle is known.
    func undoText(at now: HostTime) -> String? {
        guard let last = undoing.last, obstacle(toUndoing: last) == nil else { return nil }
        return switch last.before {
        case .tempo(let tempo): "tempo back to \(tempo.text) BPM"
        case .quantum(let quantum): "quantum back to \(shortest(quantum.value, atMost: 3)) beats"
        case .follow(let choice): "follow \(choice.text) again"
        case .link(let isOn): "Link \(isOn ? "on" : "off") again"
        case .startStopSync(let isOn): "start/stop sync \(isOn ? "on" : "off") again"
        case .playing(let isPlaying): isPlaying ? "play again" : "stop again"
        case .outputs(let outputs, let settings): text(of: self.outputs.stillHere(outputs), settings, at: now)
        }
    }

    private func text(of outputs: [OutputTable.LiveChanges], _ settings: [String], at now: HostTime) -> String {
        if let output = outputs.first, outputs.count == 1 {
            switch settings {
            case ["offset"]:
                return "offset of \(output.name) back to \(shortest(Double(output.offset) / 1_000, atMost: 3)) ms"
            case ["mute"]: return "\(output.name) \(output.muted.words(in: songPlace(at: now))) again"
            case ["switch"]: return "\(output.name) \(output.kept.isOff ? "off" : "on") again"
            default: break
            }
        }
        let names = outputs.prefix(2).map(\.name) + (outputs.count > 2 ? ["\(outputs.count - 2) more"] : [])
        let words = settings.map { $0 == "switch" ? "on/off" : $0 }
        return "\(words.joined(separator: " and ")) of \(names.joined(separator: ", ")) back"
    }
}

extension Command {
    /// What it is a step of.
    var undoKind: Undoing.Kind {
        switch self {
        case .tap: .tap
        case .stepTempo: .step
        case .scaleTempo: .scale
        case .adjust(_, let change): change.nudge == nil ? .value : .step
        case .toggleLink, .togglePlaying, .mute(_, .toggle): .toggle
        default: .value
        }
    }
}

extension Tempo {
    /// The plainest number of BPM, with at most three decimals, that has the same whole beat length.
    ///
    /// A session only knows microseconds per beat: 121 BPM comes back as 121.000105.
    var asStated: Tempo {
        let exact = Tempo(microsecondsPerBeat: microsecondsPerBeat)
        for scale in [1.0, 10, 100, 1_000] {
            let tempo = Tempo(beatsPerMinute: (exact.beatsPerMinute * scale).rounded() / scale)
            if tempo.microsecondsPerBeat == microsecondsPerBeat { return tempo }
        }
        return exact
    }

    /// For messages: BPM with at most three decimals.
    var text: String { shortest(asStated.beatsPerMinute, atMost: 3) }
}
