internal import BeatTime
package import ConfigurationFiles
package import GatewayStatus
internal import LinkNetwork
package import Logging
package import RealTime
internal import Synchronization

/// The running gateway: its threads, its sequencer clients, its Link peer.
///
/// Any thread may call it.
package final class Gateway: Sendable {
    private let core: GatewayCore
    private let thread: RealTimeThread
    private let keeper: StateKeeper?
    private let reading: Mutex<@Sendable () throws(Mistakes) -> Wishes>

    /// Starts the gateway.
    ///
    /// A missing sequencer, a refused real-time priority or an output that is not there yet are no errors: they show
    /// in the status, with their fix.
    ///
    /// - Parameters:
    ///   - configuration: what the user wants.
    ///   - keeper: keeps what the user sets, and gives back what was kept; nil forgets it.
    ///   - log: takes what happens, in constant texts with metadata.
    ///   - reading: reads again what the user wants, for ``reload()``.
    /// - Throws: when the system gives no thread or no descriptor.
    package init(
        _ configuration: GatewayConfiguration, keeper: StateKeeper? = nil, log: Logger,
        reading: (@Sendable () throws(Mistakes) -> Wishes)? = nil
    ) throws(SystemCallError) {
        self.reading = Mutex(reading ?? { configuration.wishes })
        self.keeper = keeper
        let core = try GatewayCore(configuration, keeper: keeper, log: log)
        self.core = core
        // A master's Start may come a millisecond before its tick, and passes this thread.
        thread = try RealTimeThread(
            name: "tactus-gateway", priority: Int32(clamping: configuration.realtimePriority / 2)
        ) { core.run() }
    }

    /// How many descriptors a gateway opens at most, with the addresses there are now.
    package static func descriptorsNeeded(_ wishes: Wishes, interfaces: [String]) -> Int {
        let lines = wishes.outputs.requests.count { if case .raw = $0.address { true } else { false } }
        return ownDescriptors + lines + LocalAddress.descriptorsNeeded(onlyNamed: interfaces)
    }

    /// Wake-ups, sequencer clients, the state's file, and what is looked up for the status.
    private static let ownDescriptors = 20

    /// The present state of everything.
    package func status() -> Status {
        var status = core.status(at: HostTime.now())
        status.warnings += keeper?.warnings ?? []
        return status
    }

    /// The present state of everything, for somebody who keeps watching: as long as it is asked for every second, Link
    /// does not leave the network for want of use.
    package func watchedStatus() -> Status {
        core.watched()
        return status()
    }

    /// The profiles in force.
    package var profiles: [Profile] { core.profiles }

    /// The sequencer's ports that send or take something.
    package var ports: [Port] { core.ports }

    /// Why the output thread does not meet its deadlines; nil while it does.
    package func lapse() -> String? { core.lapse(at: .take()) }

    /// Carries out a command; returns once ``status()`` shows it.
    package func perform(_ command: Command) async throws(CommandRefusal) {
        try await outcome { core, reply in core.post(command, reply: reply) }.get()
    }

    /// Has a command carried out and waits for nothing; in a flood of them some are passed over.
    ///
    /// - Parameters:
    ///   - command: from someone who expects no answer.
    ///   - whenRefused: is called, on any thread, if it is not carried out.
    package func submit(_ command: Command, whenRefused: @escaping @Sendable (CommandRefusal) -> Void) {
        core.post(command, leaving: 512) { result in
            if case .failure(let refusal) = result { whenRefused(refusal) }
        }
    }

    private func outcome(
        _ post: (GatewayCore, @escaping GatewayCore.Reply) -> Void
    ) async -> Result<Void, CommandRefusal> {
        await withCheckedContinuation { continuation in post(core) { continuation.resume(returning: $0) } }
    }

    /// Reads configuration and profiles again, and has what is wished otherwise come into force, all of it or nothing.
    package func reload() async throws(CommandRefusal) {
        let outcome = await outcome { core, reply in
            // Of two at once the one that reads later is also carried out later.
            reading.withLock { reading in
                do throws(Mistakes) {
                    core.post(.configure(try reading()), reply: reply)
                } catch {
                    reply(.failure(.badConfiguration(error.all.map(\.description))))
                }
            }
        }
        try outcome.get()
    }

    /// Stops the devices that play, says bye-bye to the peers, keeps the state and ends all threads; returns when that
    /// has happened.
    package func stop() async {
        core.stop()
        thread.join()
        keeper?.close()
    }
}
