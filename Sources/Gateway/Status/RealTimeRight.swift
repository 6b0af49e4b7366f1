internal import GatewayStatus
internal import RealTime

/// Asks others for real-time scheduling of a thread that the user's limits do not allow; returns at once.
///
/// It gets the kernel's number of the thread, the priority wanted, and where to report, from any thread, what becomes of
/// it.
package typealias RealTimeRequester =
    @Sendable (
        _ thread: Int32, _ priority: Int32, _ report: @escaping @Sendable (RealTimeReport) -> Void
    ) -> Void

/// What became of a request for real-time scheduling.
package enum RealTimeReport: Hashable, Sendable {
    case granted
    /// Why not, for people.
    case refused(String)
    /// It was granted, but the thread ran for too long without a pause.
    case overrun
}

/// Whether the clock has real-time scheduling, and why not.
struct RealTimeRight: Hashable, Sendable {
    /// The priority wanted; 0 if none was.
    let priorityWanted: Int
    /// How the output thread is scheduled.
    let scheduling: Scheduling
    let request: Request

    /// How far asking others has come.
    enum Request: Hashable, Sendable {
        /// Nobody was asked, because the limits allow it or nobody can be.
        case none
        case waiting
        case answered(RealTimeReport)
    }

    /// A warning if the scheduling is not what was wanted; none while an answer is awaited.
    var warning: Status.Warning? {
        guard priorityWanted > 0, !scheduling.isRealTime else { return nil }
        let result = ", so ticks may be late under load"
        let byLimits = "'tactus doctor' tells the command that allows it on this machine"
        switch request {
        case .waiting: return nil
        case .none:
            return .init(code: "no-realtime", message: "real-time scheduling was refused\(result)", fix: byLimits)
        case .answered(.refused(let reason)):
            return .init(
                code: "no-realtime",
                message: "real-time scheduling was refused\(result): the limits do not allow it, and \(reason)",
                fix: byLimits)
        case .answered(.overrun):
            return .init(
                code: "no-realtime",
                message: "the clock ran for too long without a pause and lost the real-time scheduling that rtkit had "
                    + "granted\(result)",
                fix: "restart Tactus; with priority by limits this cannot happen, and \(byLimits)")
        case .answered(.granted):
            return .init(
                code: "no-realtime", message: "rtkit took the real-time scheduling back\(result)",
                fix: "find the program that keeps all processors busy and end it; restart Tactus after five minutes")
        }
    }
}
