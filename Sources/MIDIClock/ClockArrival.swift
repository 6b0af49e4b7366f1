public import BeatTime

/// Where a clock comes from.
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

/// A message of some machine's clock, and when it came.
public struct ClockArrival: Hashable, Sendable, BitwiseCopyable {
    public var message: ClockMessage
    /// When it came, as the kernel stamped it where it can.
    public var time: HostTime
    public var source: ClockSource

    public init(_ message: ClockMessage, at time: HostTime, from source: ClockSource) {
        self.message = message
        self.time = time
        self.source = source
    }
}
