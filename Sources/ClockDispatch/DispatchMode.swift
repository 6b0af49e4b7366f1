internal import RealTime

/// How the user wants ticks to be sent.
package enum DispatchChoice: String, CaseIterable, Sendable {
    /// The best mode that the machine allows.
    case auto
    case direct
    case backstop
    case queue
}

/// How ticks are sent.
package enum DispatchMode: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// By the output thread, when they are due.
    case direct
    /// By the output thread when due, or by the sequencer's queue if the thread could not run in time.
    case backstop
    /// By the sequencer's queue, which the thread starts ahead of time.
    case queue

    package var name: String { "\(self)" }
}

/// How ticks are sent, and whether that may change.
struct DispatchWay: Hashable, BitwiseCopyable {
    var mode: DispatchMode
    /// Whether the queue becomes a backstop while another program's queue runs.
    var isAdaptive = false

    /// The way for a choice on a machine.
    ///
    /// By default, a real-time thread uses the queue, or the backstop while another program's queue makes that less
    /// exact. On a PREEMPT_RT kernel it sends directly: there the queue's timer is a thread of low priority, and after
    /// that was held up, the queue sends early. An ordinary thread leaves to the queue all that it can.
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
        guard hasQueue else { return .init(mode: .direct) }
        switch choice {
        case .direct: return .init(mode: .direct)
        case .backstop: return .init(mode: .backstop)
        case .queue: return .init(mode: .queue)
        case .auto:
            guard scheduling.isRealTime else { return .init(mode: .queue) }
            return isRealTimeKernel ? .init(mode: .direct) : .init(mode: .queue, isAdaptive: true)
        }
    }
}
