import Testing

@testable import ALSASequencer

@Suite
struct SubscriptionGraphTests {
    // Our gateway: outputs 130, input 131; two cards, Midi Through, a program with two clients, another gateway.
    private static let clock = PortAddress(client: 130, port: 0)
    private static let drums = PortAddress(client: 130, port: 1)
    private static let clockIn = PortAddress(client: 131, port: 0)
    private static let owners: [Int: SubscriptionGraph.Owner] = [
        130: .process(1000), 131: .process(1000), 24: .card(1), 25: .card(1), 28: .card(2), 14: .client(14),
        140: .process(2000), 141: .process(2000), 150: .process(3000), 151: .process(3000),
    ]

    private static func port(_ client: Int, _ port: Int = 0) -> PortAddress { PortAddress(client: client, port: port) }

    private static func graph(_ edges: [(PortAddress, PortAddress)]) -> SubscriptionGraph {
        SubscriptionGraph(
            owners: owners, subscriptions: Set(edges.map { SubscriptionGraph.Subscription(from: $0.0, to: $0.1) }))
    }

    private static func reaching(_ source: PortAddress, _ edges: [(PortAddress, PortAddress)]) -> [PortAddress] {
        graph(edges).outputs(among: [clock, drums], reaching: source)
    }

    @Test
    func `a port of our own as the source is reached only by itself`() {
        #expect(Self.reaching(Self.drums, [(Self.drums, Self.clockIn), (Self.clock, Self.port(24))]) == [Self.drums])
    }

    @Test
    func `our clock at one port of a card reaches the card's other ports`() {
        let edges = [(Self.drums, Self.port(24, 2)), (Self.port(25), Self.clockIn), (Self.clock, Self.port(28))]
        #expect(Self.reaching(Self.port(25), edges) == [Self.drums])
        #expect(Self.reaching(Self.port(28), edges) == [Self.clock])
    }

    @Test
    func `a genuine leader that receives nothing of ours is not reached`() {
        let edges = [(Self.clock, Self.port(24)), (Self.port(28), Self.clockIn), (Self.port(28), Self.port(24))]
        #expect(Self.reaching(Self.port(28), edges).isEmpty)
    }

    @Test
    func `a path through Midi Through and a program with two clients is found`() {
        let edges = [
            (Self.clock, Self.port(14)), (Self.port(14), Self.port(140)), (Self.port(141), Self.port(150)),
            (Self.port(151), Self.clockIn),
        ]
        #expect(Self.reaching(Self.port(151), edges) == [Self.clock])
        #expect(
            Self.graph(edges).path(from: Self.clock, to: Self.port(151))?.map(\.receiver.client) == [14, 140, 150])
    }

    @Test
    func `paths through the gateway itself do not count`() {
        // A leader on card 2 whose clock we take, regenerate and send to card 1.
        let edges = [(Self.port(28), Self.clockIn), (Self.clock, Self.port(24))]
        #expect(Self.reaching(Self.port(28), edges).isEmpty)
        // That Drums feeds our own Clock In does not lead from Drums to the device of Clock.
        let own = [(Self.drums, Self.clockIn), (Self.clock, Self.port(28)), (Self.port(28), Self.clockIn)]
        #expect(Self.reaching(Self.port(28), own) == [Self.clock])
    }

    @Test
    func `with a cycle, the shortest path is found`() throws {
        let edges = [
            (Self.clock, Self.port(24)), (Self.port(24), Self.port(14)), (Self.port(14), Self.port(24)),
            (Self.port(14), Self.port(28)), (Self.port(24, 1), Self.port(28)),
        ]
        let path = try #require(Self.graph(edges).path(from: Self.clock, to: Self.port(28)))
        #expect(path.map(\.sender) == [Self.clock, Self.port(24, 1)])
        #expect(Self.reaching(Self.port(150), edges).isEmpty)
    }

    @Test
    func `an unknown client is its own owner`() {
        let edges = [(Self.clock, Self.port(160)), (Self.port(160, 3), Self.clockIn)]
        #expect(Self.reaching(Self.port(160, 3), edges) == [Self.clock])
        #expect(Self.reaching(Self.port(161), edges).isEmpty)
    }
}
