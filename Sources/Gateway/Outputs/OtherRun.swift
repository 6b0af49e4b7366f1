internal import ALSASequencer

/// Another run of this program that sends to a device.
package struct OtherRun: Hashable, Sendable, CustomStringConvertible {
    /// Number of the client whose ports carry its clocks.
    var client: Int
    /// Its process; nil if it is not known.
    var process: Int?

    package var description: String {
        "another run of Tactus (\(process.map { "pid \($0)" } ?? "client \(client)"))"
    }

    /// What the user can do.
    var fix: String {
        "leave the machine out of one of the two"
            + (process.map { ", or end that run: 'kill \($0)'" } ?? ", or end one")
    }
}

/// The devices to which other runs of this program send.
///
/// Those runs are known by the names of their clients. Whatever else sends to a device, such as a keyboard or a program that
/// passes notes on, has no clock as far as can be seen.
struct OtherRuns: Sendable {
    private let machines: MachinePorts
    private var runs: [PortAddress: OtherRun] = [:]

    /// - Parameters:
    ///   - list: the present ports and subscriptions.
    ///   - own: numbers of the gateway's own clients.
    ///   - machines: which ports lead to one machine.
    init(_ list: PortList, except own: Set<Int>, machines: MachinePorts) {
        self.machines = machines
        for subscription in list.graph.subscriptions {
            let client = subscription.sender.client
            guard !own.contains(client), list[subscription.sender]?.clientName == SequencerClients.outputName else {
                continue
            }
            var run = OtherRun(client: client)
            if case .process(let process) = list.graph.owner(of: client) { run.process = process }
            let place = machines.place(of: subscription.receiver)
            // Of several, always the same one is told.
            if let known = runs[place], known.client <= client { continue }
            runs[place] = run
        }
    }

    /// The run that sends to a port, or to the machine that it leads to.
    func sending(to port: PortAddress) -> OtherRun? { runs[machines.place(of: port)] }
}
