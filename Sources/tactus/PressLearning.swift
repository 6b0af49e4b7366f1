import ALSASequencer
import BeatTime
import Gateway
import MIDIClock

/// Finds out which control is pressed, and whether it alternates between its values from press to press.
///
/// One that reports its release within a second does not. Any other is to be pressed once more.
struct PressLearning {
    private var detector = PressDetector()
    private var state = State.waits

    private enum State {
        case waits
        /// Pressed at its time, and not released yet.
        case pressed(ControlArrival)
        /// Released soon, unless this is a bounce.
        case released(ControlArrival, at: HostTime)
        /// To be pressed once more, since this time.
        case asked(ControlArrival, at: HostTime)
        /// It has reported a low value after that: either it was released, or it alternates.
        case low(ControlArrival, at: HostTime)
        case learnt(Learnt)
    }

    /// What was found out.
    struct Learnt: Hashable {
        var press: ControlArrival
        var isLatching: Bool
    }

    /// Time in which a release comes, in microseconds.
    private static let press: Int64 = 1_000_000
    /// Contact bounce is over by then, in microseconds.
    private static let bounce: Int64 = 50_000
    /// How long to wait for another press, in microseconds.
    private static let patience: Int64 = 6_000_000
    /// Time from letting go to pressing again, in microseconds.
    private static let again: Int64 = 2_000_000

    /// Takes a message.
    mutating func take(_ arrival: ControlArrival) {
        timePassed(to: arrival.time)
        let press = detector.press(arrival)
        switch state {
        case .waits:
            guard press == .down else { return }
            state =
                arrival.message.kind == .program
                ? .learnt(Learnt(press: arrival, isLatching: false)) : .pressed(arrival)
        case .pressed(let first) where isSame(arrival, first) && isLow(arrival):
            state = .released(first, at: arrival.time)
        case .released(let first, _) where isSame(arrival, first) && !isLow(arrival): state = .pressed(first)
        case .asked(let first, _) where isSame(arrival, first) && press != nil:
            state = press == .up ? .low(first, at: arrival.time) : .learnt(Learnt(press: first, isLatching: false))
        case .low(let first, _) where isSame(arrival, first) && press == .down:
            state = .learnt(Learnt(press: first, isLatching: false))
        default: break
        }
    }

    /// Notes that nothing else has come until now.
    mutating func timePassed(to now: HostTime) {
        while let deadline, deadline <= now {
            switch state {
            case .pressed(let first): state = .asked(first, at: deadline)
            case .released(let first, _), .asked(let first, _): state = .learnt(Learnt(press: first, isLatching: false))
            case .low(let first, _): state = .learnt(Learnt(press: first, isLatching: true))
            case .waits, .learnt: return
            }
        }
    }

    /// When ``timePassed(to:)`` has something to do; nil while it has not.
    var deadline: HostTime? {
        switch state {
        case .waits, .learnt: nil
        case .pressed(let first): first.time.advanced(byMicroseconds: Self.press)
        case .released(_, let time): time.advanced(byMicroseconds: Self.bounce)
        case .asked(_, let time): time.advanced(byMicroseconds: Self.patience)
        case .low(_, let time): time.advanced(byMicroseconds: Self.again)
        }
    }

    /// Whether the same control is to be pressed once more.
    var asksAgain: Bool { if case .asked = state { true } else { false } }

    var learnt: Learnt? { if case .learnt(let learnt) = state { learnt } else { nil } }

    /// The control that was pressed, if the time is over before more is known.
    var pressed: ControlArrival? {
        switch state {
        case .waits: nil
        case .pressed(let first), .released(let first, _), .asked(let first, _), .low(let first, _): first
        case .learnt(let learnt): learnt.press
        }
    }

    private func isSame(_ arrival: ControlArrival, _ other: ControlArrival) -> Bool {
        let (message, first) = (arrival.message, other.message)
        return arrival.source == other.source
            && (message.kind, message.number, message.channel) == (first.kind, first.number, first.channel)
    }

    private func isLow(_ arrival: ControlArrival) -> Bool { !arrival.message.isDown }
}
