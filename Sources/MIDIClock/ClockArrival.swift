public import BeatTime

/// Where a clock comes from.
///
/// ```swift
/// assert(ClockSource.port(client: 24, port: 0).description == "24:0")
/// ```
public enum ClockSource: Hashable, Sendable, BitwiseCopyable {
    /// A port of the sequencer.
    case port(client: UInt8, port: UInt8)
    /// The raw MIDI device that the user named as clock input.
    case device
}

extension ClockSource: CustomStringConvertible {
    /// As the user names it: `24:0`, or `clock-in` for the raw device.
    public var description: String {
        switch self {
        case .port(let client, let port): "\(client):\(port)"
        case .device: "clock-in"
        }
    }
}

/// A clock message with its source and time of arrival.
///
/// ```swift
/// let source = ClockSource.port(client: 24, port: 0)
/// let arrival = ClockArrival(.start, at: HostTime(microseconds: 5_000), from: source)
/// assert(arrival.message == .start)
/// ```
public struct ClockArrival: Hashable, Sendable, BitwiseCopyable {
    public var message: ClockMessage
    /// When it arrived, by the kernel's stamp if possible.
    public var time: HostTime
    public var source: ClockSource

    public init(_ message: ClockMessage, at time: HostTime, from source: ClockSource) {
        self.message = message
        self.time = time
        self.source = source
    }
}
