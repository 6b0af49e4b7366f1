internal import BeatTime
internal import MIDIClock
package import TimeCode

/// What an output sends, as the board says.
package enum StreamKind: Hashable, Sendable, BitwiseCopyable {
    /// MIDI clock with its transport.
    case clock
    /// MIDI time code that begins with a time when the song begins.
    case timeCode(start: TimeCode)
}

/// What an output sends, as a value: it says which message is next and when, and moves on when that is sent.
///
/// A new kind of stream is one more case here, with its messages in ``StreamMessage``.
enum Stream: BitwiseCopyable {
    case clock(TickPlanner)
    case timeCode(TimeCodeStream)

    init(_ kind: StreamKind) {
        switch kind {
        case .clock: self = .clock(TickPlanner())
        case .timeCode: self = .timeCode(TimeCodeStream())
        }
    }

    /// Whether it is of this kind.
    func isOne(of kind: StreamKind) -> Bool {
        switch (self, kind) {
        case (.clock, .clock), (.timeCode, .timeCode): true
        case (.clock, _), (.timeCode, _): false
        }
    }

    /// The next message, and when to send it; see ``TickPlanner/next(_:on:at:)``.
    mutating func next(_ slot: OutputBoard.Slot, _ shared: SharedPlan, at now: HostTime) -> StreamEvent? {
        switch self {
        case .clock(var planner):
            defer { self = .clock(planner) }
            return planner.next(slot.plan(shared.transport), on: shared.map, at: now).map(StreamEvent.clock)
        case .timeCode(var stream):
            defer { self = .timeCode(stream) }
            return slot.timeCodePlan(shared).flatMap { stream.next($0, at: now) }.map(StreamEvent.timeCode)
        }
    }

    /// Notes that the message that was given last leaves at a time.
    mutating func sent(_ event: StreamEvent, at time: HostTime) {
        switch (self, event) {
        case (.clock(var planner), .clock(let planned)):
            planner.sent(planned, at: time)
            self = .clock(planner)
        case (.timeCode(var stream), .timeCode(let event)):
            stream.sent(event)
            self = .timeCode(stream)
        case (.clock, _), (.timeCode, _): break
        }
    }

    /// Notes that a device was connected; one that returns may have played on meanwhile.
    mutating func deviceConnected(isReturning: Bool) {
        changeClock { $0.deviceConnected(isReturning: isReturning) }
        changeTimeCode { $0.fallSilent() }
    }

    /// Notes that nothing is sent before the next call of ``next(_:_:at:)``.
    mutating func fallSilent() {
        changeClock { $0.fallSilent() }
        changeTimeCode { $0.fallSilent() }
    }

    /// Realigns a playing device; only a clock has one.
    mutating func realign(_ when: Realignment) { changeClock { $0.realign(when) } }

    /// Notes that the device has refused something since the last receipt.
    ///
    /// - Parameter isBegun: whether it has taken a part, and gets the rest.
    mutating func refused(isBegun: Bool) {
        changeClock { $0.refused() }
        if !isBegun { changeTimeCode { $0.refused() } }
    }

    /// Notes that the device has taken everything since the last receipt.
    mutating func taken() { changeClock { $0.taken() } }

    /// The final message when the program ends.
    mutating func finish() -> ClockMessage? { changeClock { $0.finish() } ?? nil }

    /// The ticks skipped since this was last called.
    mutating func takeSkipped() -> TickPlanner.Skipped { changeClock { $0.takeSkipped() } ?? TickPlanner.Skipped() }

    @discardableResult
    private mutating func changeClock<Result>(_ change: (inout TickPlanner) -> Result) -> Result? {
        guard case .clock(var planner) = self else { return nil }
        defer { self = .clock(planner) }
        return change(&planner)
    }

    private mutating func changeTimeCode(_ change: (inout TimeCodeStream) -> Void) {
        guard case .timeCode(var stream) = self else { return }
        change(&stream)
        self = .timeCode(stream)
    }

    private var planner: TickPlanner? { if case .clock(let planner) = self { planner } else { nil } }
    var syncState: TickPlanner.SyncState { planner?.syncState ?? .inSync }
    var mayPlay: Bool { planner?.mayPlay == true }
    var rate: TickPlanner.Rate? { planner?.rate }
}

/// A message that a stream gives, and when to send it.
enum StreamEvent: Hashable, BitwiseCopyable {
    case clock(PlannedMessage)
    case timeCode(TimeCodeStream.Event)

    var message: StreamMessage {
        switch self {
        case .clock(let planned): .clock(planned.message)
        case .timeCode(let event): .timeCode(event.message)
        }
    }

    /// When to send it, not earlier.
    var due: HostTime {
        switch self {
        case .clock(let planned): planned.due
        case .timeCode(let event): event.due
        }
    }

    /// Microseconds by which that is later than it should be.
    var belated: Int64 { if case .clock(let planned) = self { planned.belated } else { 0 } }

    /// Whether its device must have taken it to be in sync with the song.
    var isImportant: Bool {
        guard case .clock(let planned) = self else { return false }
        return planned.message != .timingClock || planned.isPartOfStart
    }
}

/// A message of any stream.
enum StreamMessage: Hashable, BitwiseCopyable {
    case clock(ClockMessage)
    case timeCode(TimeCodeMessage)

    /// The message's bytes, first byte lowest in the word, and their number.
    var wire: (bytes: UInt128, count: Int) {
        switch self {
        case .clock(let message): (UInt128(message.wire.bytes), message.wire.count)
        case .timeCode(let message): message.wire
        }
    }

    /// Whether it is one of those that come again and again: a tick, or a piece of a time.
    var isPulse: Bool {
        switch self {
        case .clock(.timingClock), .timeCode(.quarterFrame): true
        case .clock, .timeCode: false
        }
    }

    /// Whether the queue can send it: it takes no message of many bytes.
    var fitsQueue: Bool { if case .timeCode(.fullFrame) = self { false } else { true } }
}
