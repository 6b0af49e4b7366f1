internal import Glibc
package import RealTime

/// Real-time scheduling by rtkit, for a process whose limits do not allow it.
package enum RealTimeKit {
    /// Most descriptors that a request opens.
    package static let descriptorsNeeded = 1

    /// Asks for real-time scheduling of a thread of this process, and waits for the answer.
    ///
    /// It limits how long real-time threads of this process may run without sleeping; see ``RealTimeLimit``.
    ///
    /// - Parameters:
    ///   - thread: the kernel's number of the thread.
    ///   - priority: the priority wanted, 1 to 99.
    ///   - overrun: made readable if the thread loses it again, because it ran for too long.
    ///   - end: makes it return early when it becomes readable; nil if nothing does.
    ///   - deadline: when to wait no longer.
    /// - Returns: the answer; nil if `end` came first.
    package static func ask(
        for thread: Int32, priority: Int32, overrun: WakeUp, orUntil end: WakeUp? = nil, deadline: MonotonicTime
    ) -> RealTimeAnswer? {
        do throws(SystemCallError) {
            let connection = try BusConnection()
            var request = RealTimeRequest(process: getpid(), thread: thread, priority: priority)
            var effects = request.connected()
            while true {
                for effect in effects {
                    switch effect {
                    case .send(let message): try connection.send([message])
                    case .limit(let microseconds):
                        try RealTimeLimit.set(thread: thread, microseconds: microseconds, overrun: overrun)
                    case .end(let answer): return answer
                    }
                }
                var descriptors = [connection.awaited]
                if let end { descriptors.append(pollfd(fd: end.descriptor, events: Int16(POLLIN), revents: 0)) }
                poll(&descriptors, until: deadline)
                if descriptors.count > 1, descriptors[1].revents != 0 { return nil }
                guard MonotonicTime.now() < deadline else { return .refused("rtkit does not answer") }
                effects = try connection.receive().flatMap { request.receive($0) }
            }
        } catch {
            return .refused("rtkit cannot be asked (\(error))")
        }
    }
}
