internal import DBus
internal import RealTime

/// Reserves sound cards on the session's bus, so that a desktop's sound server lets go of them; a value that takes and
/// returns messages of D-Bus.
///
/// This is the device reservation protocol that PulseAudio has introduced. Whoever uses card 0 owns the bus name
/// `org.freedesktop.ReserveDevice1.Audio0`, and lets go of both when somebody with a higher priority asks for it. A sound
/// server takes a card back when its name has no owner.
struct CardReservations {
    /// Our priority among those who want a card.
    ///
    /// It is above that of sound servers (PipeWire has -20, PulseAudio 0), which can play on other cards and take this one
    /// back later, and below that of programs for one card: JACK has the highest number there is.
    static let priority: Int32 = 20
    /// Longest wait for an answer, in nanoseconds.
    static let patience: Int64 = 1_000_000_000
    /// Time from losing a card, or not getting it, to asking for it again, in nanoseconds.
    static let pause: Int64 = 5_000_000_000

    /// The cards that are wanted, by ALSA's numbers of them.
    private var cards: [Int: Card] = [:]
    private var serial: UInt32 = 0
    /// The calls whose answers are awaited.
    private var pending: [UInt32: (card: Int, step: Step)] = [:]

    private struct Card {
        var isOpen: Bool
        var phase = Phase.asking
        /// When to wait no longer, or to ask again.
        var deadline: MonotonicTime?
        /// What the program that has it, or wants it, calls itself.
        var program: String?
    }

    private enum Phase {
        case asking
        /// May be used. If it is not ours by name, it is asked for again, so that others can ask us for it.
        case granted
        /// To be closed, before the call is answered; nil if it is another's already.
        case claimed(by: BusMessage?)
        case held(CardHolder.Manner)
    }

    private enum Step {
        /// The name was asked for, and again after its owner has let go of it, or is gone.
        case name, nameAgain
        /// The owner was asked to let go.
        case release
        /// The owner, or who wants to be that, was asked what it calls itself.
        case program
    }

    /// Whether a card may be used.
    enum Standing: Hashable, Sendable {
        /// That is not known yet.
        case asking
        case granted
        /// Another program has it, or gets it as soon as it is closed.
        case held(CardHolder)
    }

    func standing(of card: Int) -> Standing {
        guard let card = cards[card] else { return .asking }
        return switch card.phase {
        case .asking: .asking
        case .granted: .granted
        case .claimed: .held(CardHolder(program: card.program, manner: .hasAsked))
        case .held(let manner): .held(CardHolder(program: card.program, manner: manner))
        }
    }

    /// When ``timePassed(to:)`` is due; nil if not before something else happens.
    var nextDeadline: MonotonicTime? { cards.values.compactMap(\.deadline).min() }

    /// Takes which cards are wanted.
    ///
    /// - Parameters:
    ///   - wanted: ALSA's numbers of the cards, and whether each is open.
    ///   - now: the present time.
    /// - Returns: what to send.
    mutating func take(_ wanted: [Int: Bool], at now: MonotonicTime) -> [BusMessage] {
        var messages: [BusMessage] = []
        for number in cards.keys.sorted() where wanted[number] == nil { messages += forget(number) }
        for (number, isOpen) in wanted.sorted(by: { $0.key < $1.key }) {
            guard cards[number] != nil else {
                cards[number] = Card(isOpen: isOpen)
                messages += ask(for: number, at: now)
                continue
            }
            cards[number]?.isOpen = isOpen
            if case .claimed(let call)? = cards[number]?.phase, !isOpen { messages += leave(number, to: call, at: now) }
        }
        return messages
    }

    /// Gives up waiting, and asks again, where it is time for that.
    mutating func timePassed(to now: MonotonicTime) -> [BusMessage] {
        var messages: [BusMessage] = []
        for (number, card) in cards.sorted(by: { $0.key < $1.key }) {
            guard let deadline = card.deadline, deadline <= now else { continue }
            let isOwnerSilent = pending.values.contains { $0.card == number && $0.step == .release }
            switch card.phase {
            // The bus is silent, so nobody tells whose it is.
            case .asking where !isOwnerSilent: grantUnnamed(number, at: now)
            case .asking: leaveToOwner(number, .isSilent, at: now)
            case .granted, .held: messages += ask(for: number, at: now)
            case .claimed: cards[number]?.deadline = nil
            }
        }
        return messages
    }

    /// Takes a message.
    ///
    /// - Returns: what to send.
    mutating func receive(_ message: BusMessage, at now: MonotonicTime) -> [BusMessage] {
        switch message.kind {
        case .call: called(message, at: now)
        case .signal: signalled(message, at: now)
        case .reply, .error: answered(message, at: now)
        }
    }

    private mutating func answered(_ message: BusMessage, at now: MonotonicTime) -> [BusMessage] {
        guard let (number, step) = message.replyTo.flatMap({ pending.removeValue(forKey: $0) }),
            cards[number] != nil
        else { return [] }
        switch step {
        case .program:
            if message.kind == .reply { cards[number]?.program = message.body.first?.text.flatMap(Reservation.shown) }
        case .name where message.isRefusedName:
            // Also if it is open: who has the name is asked for the card, and would say that others may have it.
            cards[number]?.phase = .asking
            cards[number]?.deadline = now.advanced(byNanoseconds: Self.patience)
            return [askProgram(Reservation.name(of: number), number), askRelease(number)]
        case .name where message.isGrantedName, .nameAgain where message.isGrantedName: grant(number)
        case .name: grantUnnamed(number, at: now)
        case .release where message.body.first == .bool(true): return [askName(.nameAgain, number, replacing: true)]
        case .release where message.saysOwnerIsGone: return [askName(.nameAgain, number, replacing: false)]
        case .release, .nameAgain: leaveToOwner(number, .refuses, at: now)
        }
        return []
    }

    private mutating func signalled(_ message: BusMessage, at now: MonotonicTime) -> [BusMessage] {
        guard message.isSignal("NameLost", of: Bus.name), message.sender == Bus.name,
            let name = message.body.first?.text,
            let number = cards.keys.first(where: { Reservation.name(of: $0) == name }),
            case .granted? = cards[number]?.phase
        else { return [] }
        return claim(number, by: nil, named: name, at: now)
    }

    private mutating func called(_ call: BusMessage, at now: MonotonicTime) -> [BusMessage] {
        guard let number = cards.keys.first(where: { Reservation.path(of: $0) == call.path }), let card = cards[number]
        else {
            return [.refusal(of: call, Bus.Errors.object, "this card is not reserved here")]
        }
        switch (call.interface ?? Reservation.interface, call.member) {
        case (Reservation.interface, "RequestRelease"):
            guard case .int32(let priority)? = call.body.first else {
                return [.refusal(of: call, Bus.Errors.arguments, "the priority is missing")]
            }
            guard priority > Self.priority else { return [.reply(to: call, [.bool(false)])] }
            switch card.phase {
            case .granted: return claim(number, by: call, named: call.sender, at: now)
            // One at a time.
            case .claimed: return [.reply(to: call, [.bool(false)])]
            // It is not ours.
            case .asking, .held: return [.reply(to: call, [.bool(true)])]
            }
        case (Bus.properties, "Get"):
            guard let name = call.body.last?.text, let value = Reservation.properties(of: number)[name] else {
                return [.refusal(of: call, Bus.Errors.property, "there is no such property")]
            }
            return [.reply(to: call, [.variant(value)])]
        case (Bus.properties, "GetAll"): return [.reply(to: call, [.properties(Reservation.properties(of: number))])]
        default: return [.refusal(of: call, Bus.Errors.method, "there is no such method")]
        }
    }

    // What becomes of a card

    private mutating func ask(for number: Int, at now: MonotonicTime) -> [BusMessage] {
        cards[number]?.phase = .asking
        cards[number]?.deadline = now.advanced(byNanoseconds: Self.patience)
        // An owner that has not answered so far is asked anew, if it still is the owner.
        pending = pending.filter { $0.value.card != number || $0.value.step != .release }
        return [askName(.name, number, replacing: false)]
    }

    private mutating func grant(_ number: Int) {
        cards[number]?.phase = .granted
        cards[number]?.deadline = nil
    }

    /// Lets a card be used although its name is not ours, and asks for that again later.
    private mutating func grantUnnamed(_ number: Int, at now: MonotonicTime) {
        cards[number]?.phase = .granted
        cards[number]?.deadline = now.advanced(byNanoseconds: Self.pause)
    }

    /// Lets the owner of its name have a card, unless it is open: then the owner does not use it.
    private mutating func leaveToOwner(_ number: Int, _ manner: CardHolder.Manner, at now: MonotonicTime) {
        if cards[number]?.isOpen == true { grantUnnamed(number, at: now) } else { hold(number, manner, at: now) }
    }

    private mutating func hold(_ number: Int, _ manner: CardHolder.Manner, at now: MonotonicTime) {
        cards[number]?.phase = .held(manner)
        cards[number]?.deadline = now.advanced(byNanoseconds: Self.pause)
    }

    /// Notes that another program gets the card, or has it already.
    ///
    /// - Parameters:
    ///   - number: of the card.
    ///   - call: the program's request; nil if it has just taken the card.
    ///   - destination: the program's name on the bus.
    ///   - now: the present time.
    /// - Returns: what to send.
    private mutating func claim(
        _ number: Int, by call: BusMessage?, named destination: String?, at now: MonotonicTime
    ) -> [BusMessage] {
        cards[number]?.program = nil
        cards[number]?.phase = .claimed(by: call)
        cards[number]?.deadline = nil
        let question = destination.map { [askProgram($0, number)] } ?? []
        return question + (cards[number]?.isOpen == true ? [] : leave(number, to: call, at: now))
    }

    /// Lets another program have a card that is closed.
    private mutating func leave(_ number: Int, to call: BusMessage?, at now: MonotonicTime) -> [BusMessage] {
        hold(number, .hasAsked, at: now)
        return (call.map { [.reply(to: $0, [.bool(true)])] } ?? []) + [releaseName(number)]
    }

    /// Lets anybody have a card that is not wanted any more.
    private mutating func forget(_ number: Int) -> [BusMessage] {
        defer {
            cards[number] = nil
            pending = pending.filter { $0.value.card != number }
        }
        guard case .claimed(let call?)? = cards[number]?.phase else { return [releaseName(number)] }
        return [.reply(to: call, [.bool(true)]), releaseName(number)]
    }

    // What is sent

    private mutating func askName(_ step: Step, _ number: Int, replacing: Bool) -> BusMessage {
        let flags = Bus.allowsReplacement | Bus.doesNotQueue | (replacing ? Bus.replaces : 0)
        return bus("RequestName", [.string(Reservation.name(of: number)), .uint32(flags)], awaiting: step, number)
    }

    private mutating func askRelease(_ number: Int) -> BusMessage {
        .call(
            "RequestRelease", of: Reservation.interface, at: Reservation.path(of: number),
            to: Reservation.name(of: number),
            serial: awaitAnswer(.release, number), [.int32(Self.priority)])
    }

    private mutating func askProgram(_ destination: String, _ number: Int) -> BusMessage {
        .call(
            "Get", of: Bus.properties, at: Reservation.path(of: number), to: destination,
            serial: awaitAnswer(.program, number), [.string(Reservation.interface), .string(Reservation.program)])
    }

    private mutating func releaseName(_ number: Int) -> BusMessage {
        bus("ReleaseName", [.string(Reservation.name(of: number))], awaiting: nil, number)
    }

    private mutating func bus(
        _ member: String, _ body: [BusValue], awaiting step: Step?, _ number: Int
    ) -> BusMessage {
        .call(member, of: Bus.name, at: Bus.path, to: Bus.name, serial: awaitAnswer(step, number), body)
    }

    /// A number for a call; nil awaits no answer.
    private mutating func awaitAnswer(_ step: Step?, _ number: Int) -> UInt32 {
        serial &+= 1
        // An earlier call of the same kind does not matter any more.
        if let step {
            pending = pending.filter { $0.value.card != number || $0.value.step != step }
            pending[serial] = (number, step)
        }
        return serial
    }
}
