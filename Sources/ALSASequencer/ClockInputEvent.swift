package import MIDIClock

/// What an input gives of other machines' clocks, in the order it came.
package enum ClockInputEvent: Hashable, Sendable, BitwiseCopyable {
    case arrival(ClockArrival)
    /// Here an unknown number of messages is lost: the kernel had no more room for them.
    case overflow
}
