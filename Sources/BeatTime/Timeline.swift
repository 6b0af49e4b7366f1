/// Relates beats to time: at `timeOrigin` the beat is `beatOrigin`, and beats pass at `tempo`.
///
/// The arithmetic is Link's, bit for bit. The order of operations and the rounding are part of the protocol, because
/// all peers must compute the same microsecond. Any numbers are allowed, also such as only a hostile peer announces: sums
/// and differences wrap around as they do in other peers. A plain value, usable on any thread.
///
/// ```swift
/// let timeline = HostTimeline(
///     tempo: Tempo(beatsPerMinute: 120), beatOrigin: .zero, timeOrigin: HostTime(microseconds: 1_000_000))
/// assert(timeline.beats(at: HostTime(microseconds: 2_000_000)) == Beats(2))
/// assert(timeline.time(of: Beats(3)) == HostTime(microseconds: 2_500_000))
/// ```
@frozen
public struct Timeline<Time: Instant>: Hashable, Sendable {
    public var tempo: Tempo
    public var beatOrigin: Beats
    public var timeOrigin: Time

    @inlinable
    public init(tempo: Tempo, beatOrigin: Beats, timeOrigin: Time) {
        self.tempo = tempo
        self.beatOrigin = beatOrigin
        self.timeOrigin = timeOrigin
    }

    /// The beat at a time, before any quantum is applied.
    @inlinable
    public func beats(at time: Time) -> Beats {
        let (elapsed, length) = (timeOrigin.microseconds(to: time), tempo.microsecondsPerBeat)
        guard isExactInDouble(elapsed) || length <= 0 else {
            return beatOrigin + Beats(microbeats: wrappedProduct(elapsed, 1_000_000, dividedBy: length))
        }
        return beatOrigin + Beats(Double(elapsed) / Double(length))
    }

    /// The time of a beat, before any quantum is applied.
    @inlinable
    public func time(of beats: Beats) -> Time {
        let (distance, length) = (beats - beatOrigin, tempo.microsecondsPerBeat)
        guard isExactInDouble(distance.microbeats) else {
            let span = wrappedProduct(distance.microbeats, length, dividedBy: 1_000_000)
            return timeOrigin.advanced(byMicroseconds: span)
        }
        return timeOrigin.advanced(byMicroseconds: roundedToInteger(distance.value * Double(length)))
    }
}

extension Timeline: BitwiseCopyable where Time: BitwiseCopyable {}

/// Whether a double represents this number and all smaller ones exactly.
///
/// Beyond that, which is 285 years in microseconds, timelines compute with 128 bits: a double would round beats and times
/// by up to a millisecond, and not reach the most distant ones at all.
@inlinable
func isExactInDouble(_ number: Int64) -> Bool { number.magnitude <= 1 << 53 }

/// A product, divided by a divisor above 0 and rounded to the nearest integer, halves away from zero.
///
/// What exceeds 64 bits is cut off.
@usableFromInline
func wrappedProduct(_ left: Int64, _ right: Int64, dividedBy divisor: Int64) -> Int64 {
    let product = Int128(left) * Int128(right)
    let (quotient, remainder) = product.quotientAndRemainder(dividingBy: Int128(divisor))
    let isUp = 2 * remainder.magnitude >= divisor.magnitude
    return Int64(truncatingIfNeeded: isUp ? quotient + product.signum() : quotient)
}

/// A timeline as this machine's programs see it.
///
/// Its time origin is the host time of the session's beat 0.
public typealias HostTimeline = Timeline<HostTime>

/// A timeline as the session shares it.
public typealias GhostTimeline = Timeline<GhostTime>

/// Beats as Link peers show them: the phase is shared by all peers, the beat number is each peer's own.
///
/// On a peer's own timeline, the time origin is beat 0 of the grid that all peers share. A shown beat is the raw beat
/// moved by at most half a quantum, so that its phase is that of the distance from this origin.
extension Timeline {
    /// The shown beat at a time.
    @inlinable
    public func shownBeats(at time: Time, quantum: Beats) -> Beats {
        let raw = beats(at: time)
        return raw.closestMatch(phaseOf: raw - beatOrigin, quantum: quantum)
    }

    /// The position inside the shared quantum at a time.
    @inlinable
    public func phase(at time: Time, quantum: Beats) -> Beats {
        shownBeats(at: time, quantum: quantum).phase(quantum: quantum)
    }

    /// The time of a shown beat; the inverse of ``shownBeats(at:quantum:)``.
    @inlinable
    public func time(ofShown beats: Beats, quantum: Beats) -> Time {
        let distance = beats - beatOrigin
        let inside = distance.phase(quantum: quantum)
        // `closestMatch` picks the lower of two equally near positions; the inverse needs the higher. Negating the
        // arguments and the result achieves that.
        let target = quantum - beats.phase(quantum: quantum)
        let reflected = (quantum - inside).closestMatch(phaseOf: target, quantum: quantum)
        return time(of: beatOrigin + (distance - inside) + quantum - reflected)
    }
}
