internal import RealTime

/// How the user wants ticks to be sent.
package enum DispatchChoice: String, CaseIterable, Sendable {
    /// The best mode that the machine allows.
    case auto
    case direct
    case queue
}

/// How ticks are sent.
package enum DispatchMode: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// By the output thread, when they are due.
    case direct
    /// By the sequencer's queue, which the thread starts ahead of time.
    case queue

    package var name: String { "\(self)" }
}

/// How ticks are sent, and how far ahead.
struct DispatchWay: Hashable, BitwiseCopyable {
    var mode: DispatchMode
    /// Whether the thread has real-time priority; an ordinary one leaves to the queue as much as it can.
    var isRealTime = true

    /// The way for a choice on a machine.
    ///
    /// By default messages go through the queue, but on a PREEMPT_RT kernel a real-time thread sends directly: there the
    /// queue's timer is a thread of low priority, and after that was held up, the queue sends early.
    ///
    /// - Parameters:
    ///   - choice: what the user wants; without a queue the mode is always direct.
    ///   - scheduling: how the output thread is scheduled.
    ///   - isRealTimeKernel: true for PREEMPT_RT.
    ///   - hasQueue: whether the sequencer has a queue.
    /// - Returns: the way until the scheduling changes.
    static func chosen(
        _ choice: DispatchChoice, scheduling: Scheduling, isRealTimeKernel: Bool, hasQueue: Bool
    ) -> DispatchWay {
        let isDirect =
            switch choice {
            case .direct: true
            case .queue: false
            case .auto: scheduling.isRealTime && isRealTimeKernel
            }
        return DispatchWay(mode: isDirect || !hasQueue ? .direct : .queue, isRealTime: scheduling.isRealTime)
    }
}
