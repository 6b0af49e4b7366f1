import ALSASequencer
import ArgumentParser
import CardOutput
import Gateway

struct OutputTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "output-test",
        abstract: "Play a signal on a sound card's channel, to measure what its output can do.",
        discussion: """
            Unplug loudspeakers and headphones first: it is loud, and a level that stays can damage them. It has half of the \
            card's full scale, and ends after ten seconds, or with Ctrl-C. A desktop's sound server lets go of the card \
            meanwhile.

            With 'hold', a voltmeter at a DC-coupled output stays where it is; at an AC-coupled one it sinks to 0 within a \
            second, so that a run line cannot work there. With 'pulse' there is a pulse of 5 ms every second.

            EXAMPLES
              tactus output-test audio:hw:CARD=ES8/3 hold
              tactus output-test audio:hw:CARD=ES8/3 pulse
            """)

    @Argument(
        help: ArgumentHelp(
            "A sound card and its channel; 'tactus ports --cards' lists them.", valueName: "card/channel"),
        transform: Destination.init(argument:))
    var output: Destination
    @Argument(help: ArgumentHelp("What to play: hold or pulse.", valueName: "signal"), transform: Self.signal)
    var signal: CardSignal

    private static let seconds = 10

    private static func signal(_ text: String) throws -> CardSignal {
        guard let signal = CardSignal(rawValue: text) else { throw BadArgument("it is hold or pulse") }
        return signal
    }

    private func channel() throws -> (card: String, number: Int) {
        guard case .card(let card, let channels) = output, channels.count == 1 else {
            throw ValidationError("name one channel of a sound card, such as audio:hw:CARD=ES8/3")
        }
        return (card, channels[0])
    }

    func validate() throws { _ = try channel() }

    func run() throws {
        let (card, channel) = try channel()
        print("\(signal.rawValue) on channel \(channel) of \(card) for \(Self.seconds) seconds, at half of full scale")
        ALSAComplaints.capture { _ in }  // what fails says so by its error
        do throws(CardFailure) {
            try signal.play(on: card, channel: channel, seconds: Self.seconds)
        } catch {
            let trouble = PortTrouble(playingOn: card, channels: [channel], of: channel, error)
            throw Failure(.unavailable, trouble.description)
        }
    }
}
