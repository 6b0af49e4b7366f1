import Arbiter
import BeatTime
import ConfigurationFiles
import GatewayStatus
import MIDIClock

@testable import Gateway

/// A case from the field: who sends what and when to a whole gateway, and what must come out.
///
/// Read from a text file in `Tests/Field`, whose README describes every line.
struct FieldCase {
    var file: String
    /// The values of this run, such as `tempo 97.3`; empty if the file has no `for`.
    var values = ""
    /// Where it comes from, in words.
    var source = ""
    /// What must be built before it can pass; nil if it must pass now.
    var waitsFor: String?
    var seeds: ClosedRange<UInt64> = 1...1
    var tempo = 120.0
    var isLinkOn = false
    /// Tempos of other gateways in the session.
    var peers: [Double] = []
    var controls: [Control] = []
    /// Profiles of our machine and of the leaders, by the number in ``FieldClock/leader``.
    var machine: String?
    /// Profiles of other machines at outputs of our gateway.
    var otherMachines: [String] = []
    var leaderProfiles: [Int: String] = [:]
    var clocks: [FieldClock] = []
    var events: [Event] = []
    var expectations: [Expectation] = []
    /// When it is over, in seconds; nil is two seconds after the last event.
    var end: Double?

    /// Something that happens, at a time in seconds.
    struct Event {
        var time: Double
        var deed: Deed
        var place: Place

        enum Deed {
            case hears(ClockMessage, leader: Int)
            case presses(ChannelMessage, port: String)
            case taps
            /// A command, and a text that its refusal must contain; nil if it must be obeyed.
            case commands(Command, refusal: String?)
        }
    }

    /// Where something stands in the file.
    struct Place: Hashable {
        var (line, column): (Int, Int)
    }

    /// Something that must be so, during a time in seconds.
    struct Expectation {
        var what: What
        var during: ClosedRange<Double>
        var place: Place

        enum What {
            case count(ClockMessage, Int)
            case moves([ClockMessage])
            case tempo(Double, within: Double)
            /// Of a locked follower's tempo, from the leader's true one.
            case lockedTempo(within: Double)
            /// Of every tempo in the session, from one of these; the distance is a share.
            case everyTempo([Double], within: Double)
            case evenGaps(within: Double)
            /// Of the machine's song, from a place that is so much earlier than its leader's.
            case place(within: Double, early: Double)
            case mode(Mode)
            case playing(Bool)
            case note(String, isThere: Bool)
            case taps(counted: Int, wanted: Int)
        }
    }

    /// When it is over, in seconds.
    var duration: Double {
        end ?? 2 + max(events.map(\.time).max() ?? 0, clocks.map(\.end).max() ?? 0)
    }

    /// Its name in messages.
    var name: String { values.isEmpty ? file : "\(file) (\(values))" }
}
