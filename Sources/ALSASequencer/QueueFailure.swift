/// Why no sequencer queue can send in place of the output thread.
package enum QueueFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kernel refused a step of the setup.
    case refused(Step, ALSAError)
    /// A message put into it never came out.
    case silent
    /// Its first period took this many nanoseconds, far more than it should.
    case slow(Int64)

    /// The steps of the setup, in order.
    package enum Step: String, CaseIterable, Sendable {
        case room = "reserving room for events"
        case filter = "choosing the events to hear"
        case queue = "allocating a queue"
        case timer = "setting the queue's timer"
        case witness = "making the port that hears what is sent"
        case subscription = "subscribing the port that hears what is sent"
        case trial = "sending by the queue"
    }

    package var description: String {
        switch self {
        case .refused(let step, let error): "\(step.rawValue) failed, \(error)"
        case .silent: "what is laid into it does not come out"
        case .slow(let period): "it beats every \(period / 1000) us, not every \(SequencerSender.queuePeriod / 1000)"
        }
    }

    /// Runs a step; an error names the step.
    static func at<Result>(
        _ step: Step, _ body: () throws(ALSAError) -> Result
    ) throws(QueueFailure) -> Result {
        do { return try body() } catch { throw .refused(step, error) }
    }
}
