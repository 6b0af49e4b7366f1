package import BeatTime

/// A peer that announced a state, and where it was heard.
package struct Announcer: Hashable, Sendable {
    package var node: NodeID
    /// The address its datagrams come from.
    package var address: IPAddress
    /// The local address of the interface on which it is heard.
    package var interface: IPAddress

    package init(node: NodeID, address: IPAddress, interface: IPAddress) {
        self.node = node
        self.address = address
        self.interface = interface
    }
}

/// A change of the session, and who made it.
package struct SessionChange: Hashable, Sendable {
    /// Counts all changes, from 1.
    package var number: UInt64
    package var what: What
    package var origin: Origin
    /// Whether the origin is a guess.
    package var isProbable: Bool
    /// Whether this machine follows it; false for play and stop of others while start/stop sync is off.
    package var isFollowed: Bool
    /// When it was heard, or made here.
    package var at: HostTime

    package enum What: Hashable, Sendable {
        case tempo(Tempo)
        case play
        case stop
        /// We joined another session.
        case joined(session: NodeID, from: Tempo, to: Tempo)
    }

    package enum Origin: Hashable, Sendable {
        /// This program.
        case here
        /// The peer that counts as the author of a change, or the founder of a joined session.
        case peer(Announcer)
        /// The founder of a joined session, who is not heard.
        case unknown

        /// The peer's node; nil if it is not a peer.
        package var node: NodeID? {
            if case .peer(let peer) = self { peer.node } else { nil }
        }
    }

    package init(
        number: UInt64 = 0, what: What, origin: Origin, isProbable: Bool = false, isFollowed: Bool = true,
        at: HostTime
    ) {
        self.number = number
        self.what = what
        self.origin = origin
        self.isProbable = isProbable
        self.isFollowed = isFollowed
        self.at = at
    }

    /// Whether this change goes on where the earlier one left off, as while somebody turns a knob.
    ///
    /// Two changes by peers that are only guessed may be of one knob.
    package func continues(_ earlier: SessionChange) -> Bool {
        guard case .tempo = what, case .tempo = earlier.what, earlier.at.microseconds(to: at) < ChangeLog.knobPause
        else { return false }
        return origin.node == earlier.origin.node || isProbable && earlier.isProbable
    }
}
