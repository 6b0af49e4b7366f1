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
    /// By the sequencer's queue, for a thread that others may hold up at any time.
    case queue

    package var name: String {
        switch self {
        case .direct: "direct"
        case .backstop: "backstop"
        case .queue: "queue"
        }
    }

    /// The mode for a choice on a machine.
    ///
    /// - Parameters:
    ///   - choice: what the user wants; without a queue the mode is always direct.
    ///   - scheduling: how the output thread is scheduled.
    ///   - isRealTimeKernel: true for PREEMPT_RT, where the thread is nearly always on time and the queue less so.
    ///   - hasQueue: whether the sequencer has a queue.
    /// - Returns: the mode until the scheduling changes.
    static func chosen(
        _ choice: DispatchChoice, scheduling: Scheduling, isRealTimeKernel: Bool, hasQueue: Bool
    ) -> DispatchMode {
        guard hasQueue else { return .direct }
        switch choice {
        case .direct: return .direct
        case .backstop: return .backstop
        case .queue: return .queue
        case .auto:
            guard scheduling.isRealTime else { return .queue }
            return isRealTimeKernel ? .direct : .backstop
        }
    }
}
