/// Why no sequencer queue can send for the output thread.
package enum QueueFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kernel refused a step of the setup.
    case refused(Step, ALSAError)
    /// A message put into it never came out.
    case silent
    /// Its first period took this many nanoseconds, far more than it should.
    case slow(Int64)

    /// The steps of the setup, in order.
    package enum Step: String, CaseIterable, Sendable {
        case eventPools = "reserving room for events"
        case queue = "allocating a queue"
        case timer = "setting the queue's timer"
        case port = "creating a port for a test message"
        case trial = "sending by the queue"
        case filter = "choosing the events to receive"
    }

    package var description: String {
        switch self {
        case .refused(let step, let error): "\(step.rawValue) failed, \(error)"
        case .silent: "a test message never came out"
        case .slow(let period):
            "its period is \(period / 1000) us instead of \(SequencerSender.queuePeriod / 1000) us"
        }
    }

    /// Runs a step; an error names the step.
    static func at<Result>(
        _ step: Step, _ body: () throws(ALSAError) -> Result
    ) throws(QueueFailure) -> Result {
        do { return try body() } catch { throw .refused(step, error) }
    }
}
