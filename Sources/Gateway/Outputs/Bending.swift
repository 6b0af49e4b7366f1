internal import BeatTime
package import ConfigurationFiles
internal import MIDIClock

/// Who holds an output's device off its tempo.
package enum BendHolder: Hashable, Sendable {
    /// Whoever gives commands; they are not told apart, and give a sign again and again while they hold it.
    case command
    /// A button or pedal, by its port, as the user wrote that, and its message.
    case button(port: String, Control.Message)
}

/// Whether somebody holds an output's device off its tempo, and how far that has taken it.
///
/// Several can hold it, such as two hands on two buttons. The last one counts; if that lets go, the one before does.
///
/// The output thread counts the shift itself; what is known here differs by what happens within a few milliseconds. Both
/// begin anew when the device is gone or leads.
struct Bending: Hashable, Sendable {
    private var bend = Bend()
    /// In the order in which they began.
    private var holds: [Hold] = []

    private struct Hold: Hashable {
        var holder: BendHolder
        /// How much faster, in millionths; not 0.
        var rate: Int64
        /// When it ends unless the holder gives another sign.
        var deadline: HostTime
    }

    /// How much faster it is held, in millionths; 0 lets it go back to its place.
    var rate: Int64 { bend.rate }

    /// When the next hold ends that gets no other sign; nil if nobody holds it.
    var deadline: HostTime? { holds.map(\.deadline).min() }

    /// Holds it, or lets it go as far as this holder is concerned.
    ///
    /// - Parameters:
    ///   - percent: how much faster; 0 lets go.
    ///   - time: for how long, in microseconds, unless it is held again.
    ///   - holder: who does so.
    ///   - now: the present time.
    /// - Returns: whether it runs otherwise than before.
    mutating func hold(_ percent: Double, for time: Int64, by holder: BendHolder, at now: HostTime) -> Bool {
        let hold = Hold(
            holder: holder, rate: Int64((percent * 10_000).rounded()), deadline: now.advanced(byMicroseconds: time))
        if let index = holds.firstIndex(where: { $0.holder == holder && $0.rate == hold.rate }) {
            holds[index] = hold
        } else {
            holds.removeAll { $0.holder == holder }
            if hold.rate != 0 { holds.append(hold) }
        }
        return turn(at: now)
    }

    /// Ends the holds whose time is over.
    ///
    /// - Returns: whether it runs otherwise than before.
    mutating func endIfOver(at now: HostTime) -> Bool {
        holds.removeAll { $0.deadline <= now }
        return turn(at: now)
    }

    /// How far the device is from its place, in microseconds; positive is late.
    func shift(at now: HostTime) -> Int64 { bend.shift(at: bend.time(shiftedTo: now)) }

    private mutating func turn(at now: HostTime) -> Bool {
        let rate = holds.last?.rate ?? 0
        guard rate != bend.rate else { return false }
        bend.turn(to: rate, at: bend.time(shiftedTo: now))
        return true
    }
}
