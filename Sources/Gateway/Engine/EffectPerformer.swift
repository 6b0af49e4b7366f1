internal import ALSASequencer
internal import BeatTime
internal import CardOutput
internal import ClockDispatch

/// Carries out what the engine decides: ``GatewayLoop`` on the real system, tests in virtual time.
///
/// The extension below decides the order of effects, so that it is the same for both.
protocol EffectPerformer: AnyObject {
    var engine: GatewayEngine { get set }
    /// The present time.
    func hostTime() -> HostTime
    func deletePort(_ port: Int)
    func makePort(_ port: Int, named name: String)
    /// Hands a board to the output thread.
    func publish(_ board: OutputBoard)
    /// Opens and closes sound cards.
    func play(on cards: [SoundCardSetup])
    func ask(_ request: LinkRequest)
    func unsubscribe(_ subscription: SubscriptionGraph.Subscription)
    /// Closes the line of an output.
    func close(_ descriptor: Int32)
    /// Closes the port that receives messages from buttons and pedals.
    func closeControls()
    func answer(_ question: GatewayQuestion) -> GatewayAnswer
    func keep(_ state: KeptState, _ change: WriteSchedule.Change)
    func write(_ entry: LogEntry)
    func publish(_ status: StatusPicture)
    func reply(_ outcome: Result<Void, CommandError>, to token: ReplyToken)
    /// Ends the output thread after its last Stops, and returns its last report.
    func endClock() -> OutputReport
    /// Ends receiving other machines' clocks.
    func endInput()
    /// Leaves the session with a bye-bye, and ends the Link peer.
    func endLink()
    /// Closes the sound cards.
    func endCards()
    /// Replies to everybody who still waits.
    func endReplies()
}

extension EffectPerformer {
    /// Hands an event to the engine and carries out everything that follows from it.
    func take(_ event: GatewayEvent) {
        var effects = engine.take(event, at: hostTime())
        while true {
            let answers = carryOut(effects)
            guard !answers.isEmpty else { return }
            effects = engine.take(.answers(answers), at: hostTime())
        }
    }

    /// Hands over several events in the order in which they came.
    ///
    /// - Parameters:
    ///   - events: from other threads.
    ///   - lost: the present state if some changes were lost. It comes first, so that a reply does not precede its
    ///     effect, and replaces older changes among the events.
    func take(_ events: [GatewayEvent], lost: GatewayEvent.Present?) {
        if let lost { take(.lost(lost)) }
        for event in events {
            switch event {
            case .link where lost != nil, .clockDevice where lost?.clockDevice != nil: break
            default: take(event)
            }
        }
    }

    /// Ends the run.
    ///
    /// First the machines, then the peers: a drum machine must not play on while Tactus leaves the session.
    func end() {
        if let state = engine.ended(endClock()) { keep(state, .setting) }
        endInput()
        endLink()
        endCards()
        endReplies()
    }

    /// Carries effects out in the order of their fields, and returns the answers to their questions.
    private func carryOut(_ effects: GatewayEffects) -> [GatewayAnswer] {
        for port in effects.portsToDelete { deletePort(port) }
        for (port, name) in effects.portsToMake { makePort(port, named: name) }
        if effects.isBoardNew { publish(engine.board) }
        if let cards = effects.cards { play(on: cards) }
        for request in effects.link { ask(request) }
        for subscription in effects.unsubscriptions { unsubscribe(subscription) }
        for descriptor in effects.closings { close(descriptor) }
        if effects.closesControls { closeControls() }
        let answers = effects.questions.map(answer)
        if let (state, change) = effects.kept { keep(state, change) }
        for entry in effects.log { write(entry) }
        if let status = effects.status { publish(status) }
        for (token, outcome) in effects.replies { reply(outcome, to: token) }
        return answers
    }
}
