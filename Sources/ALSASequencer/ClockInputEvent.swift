package import MIDIClock

/// An event of an input for other machines' clocks.
package enum ClockInputEvent: Hashable, Sendable, BitwiseCopyable {
    case arrival(ClockArrival)
    /// An unknown number of messages was lost here: the kernel had no more room.
    case overflow
}
