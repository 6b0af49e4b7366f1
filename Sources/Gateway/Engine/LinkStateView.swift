internal import Arbiter
internal import BeatTime
internal import LinkNetwork
internal import LinkSession

extension LinkView {
    /// What the arbiter needs to know of the Link peer's state.
    init(_ state: LinkState) {
        self.init(
            state: state.sessionState, isEnabled: state.isEnabled, switchings: state.switchings, edits: state.edits,
            sessionID: state.sessionID, clockSteps: state.clockSteps)
    }
}

extension Engine {
    /// The Link peer's engine for a run of the gateway; Link is off at first.
    ///
    /// - Parameters:
    ///   - configuration: what the user wants.
    ///   - kept: what the last run saved.
    ///   - seed: decides all node IDs.
    ///   - now: the present time.
    init(_ configuration: GatewayConfiguration, kept: KeptState, seed: UInt64, at now: HostTime) {
        self.init(tempo: configuration.tempo, seed: seed, at: now)
        // An earlier run may have left the session right before.
        mayJustHaveLeft(at: now)
        setStartStopSync(configuration.isStartStopSyncEnabled)
        // A song that this gateway played when it crashed goes on with the session.
        if !kept.playing.isEmpty { resumePlaying(until: now.advanced(byMicroseconds: Recovery.longest)) }
    }
}
