internal import RealTime

/// How the user wants ticks to leave.
package enum DispatchChoice: String, CaseIterable, Sendable {
    /// What the machine allows.
    case auto
    case direct
    case backstop
    case queue
}

/// How ticks leave.
package enum DispatchMode: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// From the output thread, when they are due.
    case direct
    /// From the output thread, when they are due; from the sequencer's queue, if the thread could not run by then.
    case backstop
    /// From the sequencer's queue: for a thread that others may hold up at any time.
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
    ///   - choice: what the user wants; without a queue it is direct all the same.
    ///   - scheduling: how the output thread is scheduled.
    ///   - isRealTimeKernel: whether the kernel lets it run nearly always, and the queue less so.
    ///   - hasQueue: whether the sequencer can send by itself.
    /// - Returns: the mode to begin with.
    static func chosen(
        _ choice: DispatchChoice, scheduling: Scheduling, isRealTimeKernel: Bool, hasQueue: Bool
    ) -> DispatchMode {
        guard hasQueue else { return .direct }
        switch choice {
        case .direct: return .direct
        case .backstop: return .backstop
        case .queue: return .queue
        case .auto:
            guard scheduling == .fifo else { return .queue }
            return isRealTimeKernel ? .direct : .backstop
        }
    }
}
