package import BeatTime

/// What an output of time code does until the next change.
package struct TimeCodePlan: Hashable, Sendable, BitwiseCopyable {
    /// When the song begins or has begun; nil while it is stopped.
    package var begin: HostTime?
    /// The time with which the song begins.
    package var start: TimeCode
    /// Microseconds by which everything is sent later.
    package var offset: Int64

    package init(begin: HostTime?, start: TimeCode, offset: Int64 = 0) {
        (self.begin, self.start, self.offset) = (begin, start, offset)
    }
}

/// Decides, for one output, which message of MIDI time code to send next and when.
///
/// Time runs in real seconds from the beginning of the song, whatever its tempo. A full frame is sent before it begins, when
/// it stops, and before it goes on after a break. In between, each eight quarter frames say the time of an even frame, which
/// begins with the first of them.
///
/// Owned by the output thread: a plain value of fixed size that allocates nothing.
package struct TimeCodeStream: Sendable, BitwiseCopyable {
    /// What is counted from: when its start is on time, with the offset.
    private var origin: HostTime?
    private var start = TimeCode(.twentyFive, frame: 0)
    /// The next quarter frame, counted from the origin.
    private var quarter: Int64 = 0
    /// Whether a full frame must be sent before it.
    private var isLocating = false
    /// When the song stopped; nil while it plays.
    private var stoppedAt: HostTime?
    /// The origin and the due time of a full frame, if that was the last message sent.
    private var lastFullFrame: (origin: HostTime?, due: HostTime)?
    /// When a full frame that was refused is sent again.
    private var retryTime: HostTime?

    /// Microseconds until a full frame that was refused is sent again.
    private static let retryDelay: Int64 = 20_000

    /// A message, and when to send it.
    package struct Event: Hashable, Sendable, BitwiseCopyable {
        package let message: TimeCodeMessage
        /// When to send it, not earlier.
        package let due: HostTime
    }

    package init() {}

    /// Begins anew with the next message: a receiver was connected, or nothing was sent for a while.
    package mutating func fallSilent() { self = TimeCodeStream() }

    /// Notes that the receiver did not take the last message; a full frame is sent again.
    package mutating func refused() {
        guard let last = lastFullFrame.take() else { return }
        (origin, isLocating) = (last.origin, true)
        retryTime = last.due.advanced(byMicroseconds: Self.retryDelay)
    }

    /// The next message, and when to send it.
    ///
    /// - Parameters:
    ///   - plan: the newest plan; it may differ from the last one in any way.
    ///   - now: the earliest time at which it may be sent, never earlier than in the previous call.
    /// - Returns: a message, which may be due already; nil if there is nothing to send until the plan changes.
    package mutating func next(_ plan: TimeCodePlan, at now: HostTime) -> Event? {
        let soonest = max(now, retryTime ?? now)
        guard let begin = plan.begin?.advanced(byMicroseconds: plan.offset) else {
            guard let origin else { return nil }
            // Where it stops.
            let stop = stoppedAt ?? now
            stoppedAt = stop
            let frames = start.rate.quarters(inMicroseconds: max(0, origin.microseconds(to: stop))) / 4
            return Event(message: .fullFrame(TimeCode(start.rate, frame: start.frame + frames)), due: soonest)
        }
        stoppedAt = nil
        if let origin, start == plan.start, isSmall(origin.microseconds(to: begin)) || quarter == 0 && begin > now {
            // A step that is too small to be told, or of a beginning that is still ahead.
            self.origin = begin
        } else {
            (origin, start, isLocating) = (begin, plan.start, true)
            locate(at: soonest)
        }
        if due(quarter) < now.advanced(byMicroseconds: -start.rate.microseconds(ofQuarters: 4)) {
            // Held up for longer than a frame.
            isLocating = true
            locate(at: soonest)
        } else if retryTime != nil {
            locate(at: soonest)
        }
        let time = TimeCode(start.rate, frame: start.frame + quarter / 8 * 2 + firstFrame)
        guard !isLocating else { return Event(message: .fullFrame(time), due: soonest) }
        return Event(message: .quarterFrame(piece: UInt8(quarter % 8), of: time), due: due(quarter))
    }

    /// Notes that a message was sent: what ``next(_:at:)`` gave last.
    package mutating func sent(_ event: Event) {
        guard case .fullFrame = event.message else {
            lastFullFrame = nil
            return quarter += 1
        }
        lastFullFrame = (origin, event.due)
        (isLocating, retryTime) = (false, nil)
        if stoppedAt != nil { origin = nil }
    }

    /// Whether a step, in microseconds, is shorter than a quarter of a frame.
    private func isSmall(_ step: Int64) -> Bool { abs(step) < start.rate.microseconds(ofQuarters: 1) }

    /// The first frame from the beginning on whose number is even: pieces begin with one.
    private var firstFrame: Int64 { start.frame & 1 }

    private func due(_ quarter: Int64) -> HostTime {
        let length = start.rate.microseconds(ofQuarters: quarter + firstFrame * 4)
        return (origin ?? HostTime(microseconds: 0)).advanced(byMicroseconds: length)
    }

    /// Goes on with the first even frame that begins now or later.
    private mutating func locate(at now: HostTime) {
        let begun = start.rate.quarters(inMicroseconds: (origin ?? now).microseconds(to: now)) - firstFrame * 4
        quarter = max(0, (begun + 7) / 8 * 8)
        // A full frame takes 3.2 ms on a DIN cable.
        while quarter > 0, due(quarter) < now.advanced(byMicroseconds: 4_000) { quarter += 8 }
    }
}
