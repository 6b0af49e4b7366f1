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
package struct RealTimeRight: Hashable, Sendable {
    /// The priority wanted; 0 if none was.
    let priorityWanted: Int
    /// How the output thread is scheduled.
    let scheduling: Scheduling
    let request: Request

    /// How far asking others has come.
    package enum Request: Hashable, Sendable {
        /// Nobody was asked, because the limits allow it or nobody can be.
        case none
        case waiting
        case answered(RealTimeReport)
    }

    /// Tells that the scheduling is not what was wanted; nil if it is, and while an answer is awaited.
    var notice: Notice? {
        priorityWanted <= 0 || scheduling.isRealTime || request == .waiting ? nil : .noRealTime(request)
    }
}
