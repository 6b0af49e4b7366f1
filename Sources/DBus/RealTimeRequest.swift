/// Asks rtkit for real-time scheduling of one thread; a value that takes and returns messages of D-Bus.
///
/// rtkit is the service by which programs of a desktop's user get real-time scheduling without any right of their own.
/// It names its terms as properties: a highest priority, and the longest time that the process must allow its real-time
/// threads to run without sleeping (RLIMIT_RTTIME). It then grants SCHED_RR, which no child process inherits. See its
/// D-Bus interface, `org.freedesktop.RealtimeKit1`.
package struct RealTimeRequest {
    private let process: UInt64
    private let thread: UInt64
    private let priorityWanted: Int32
    private var serial: UInt32 = 0
    private var pending: [UInt32: Step] = [:]
    private var highestPriority: Int32?
    private var longestRun: Int64?

    private enum Step {
        case highestPriority, longestRun
        case grant(priority: Int32)
    }

    /// What to do next.
    package enum Effect: Hashable {
        case send(BusMessage)
        /// Set RLIMIT_RTTIME, before anything that follows.
        case limit(microseconds: Int64)
        case end(RealTimeAnswer)
    }

    /// Least time without a sleep to accept, in microseconds: the kernel looks only every few milliseconds, and ends the
    /// process if it sees all of it used up at once.
    private static let leastRun: Int64 = 100_000
    private static let kit = "org.freedesktop.RealtimeKit1"
    private static let path = "/org/freedesktop/RealtimeKit1"

    /// - Parameters:
    ///   - process: the number of this process.
    ///   - thread: the kernel's number of the thread.
    ///   - priority: the priority wanted, 1 to 99; rtkit may allow less.
    package init(process: Int32, thread: Int32, priority: Int32) {
        self.process = UInt64(clamping: process)
        self.thread = UInt64(clamping: thread)
        priorityWanted = priority
    }

    /// What to do on a new connection.
    package mutating func connected() -> [Effect] {
        [
            call(.highestPriority, "Get", [.string(Self.kit), .string("MaxRealtimePriority")]),
            call(.longestRun, "Get", [.string(Self.kit), .string("RTTimeUSecMax")]),
        ]
    }

    /// What to do after a message has come.
    package mutating func receive(_ message: BusMessage) -> [Effect] {
        guard message.kind == .reply || message.kind == .error,
            let step = message.replyTo.flatMap({ pending.removeValue(forKey: $0) })
        else { return [] }
        if message.kind == .error { return [.end(.refused(Self.reason(message)))] }
        switch (step, message.body.first) {
        case (.highestPriority, .int32(let priority)?): highestPriority = priority
        case (.longestRun, .int64(let microseconds)?): longestRun = microseconds
        case (.grant(let priority), _): return [.end(.granted(priority: priority))]
        default: return [.end(.refused("rtkit does not state its limits"))]
        }
        guard let highestPriority, let longestRun else { return [] }
        let priority = min(priorityWanted, highestPriority)
        guard priority > 0, longestRun >= Self.leastRun else {
            return [.end(.refused("rtkit grants no real-time priority"))]
        }
        let arguments: [BusValue] = [.uint64(process), .uint64(thread), .uint32(UInt32(priority))]
        return [
            .limit(microseconds: longestRun),
            call(.grant(priority: priority), "MakeThreadRealtimeWithPID", of: Self.kit, arguments),
        ]
    }

    private static func reason(_ error: BusMessage) -> String {
        let name = error.errorName ?? ""
        switch name.split(separator: ".").last {
        case "ServiceUnknown", "NameHasNoOwner": return "rtkit is not installed"
        case "AccessDenied" where error.body.first?.text == "Device or resource busy":
            return "rtkit grants it to no more programs or threads of this user at present"
        case "AccessDenied":
            return "rtkit grants it only to the user at this computer's screen, and to nobody for five minutes after "
                + "real-time programs have kept all processors busy"
        default: return "rtkit: \(error.body.first?.text ?? name)"
        }
    }

    private mutating func call(
        _ step: Step, _ member: String, of interface: String = "org.freedesktop.DBus.Properties",
        _ arguments: [BusValue] = []
    ) -> Effect {
        serial += 1
        pending[serial] = step
        var message = BusMessage.call(
            member, of: interface, at: Self.path, to: Self.kit, serial: serial, arguments)
        // A desktop's bus starts rtkit for the first who asks.
        message.startsService = true
        return .send(message)
    }
}

/// What became of a request for real-time scheduling.
package enum RealTimeAnswer: Hashable, Sendable {
    case granted(priority: Int32)
    /// Why not, for people.
    case refused(String)
}
