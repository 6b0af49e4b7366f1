import ALSASequencer
import Arbiter
import BeatTime
import ConfigurationFiles
import MIDIClock
import Testing

@testable import Gateway

/// What pedals and song software that set tempos do in a whole gateway; more of it is in `Tests/Field`.
@Suite
struct TempoControlSceneTests {
    private static let tablet = PortDescription.device(40, "Tablet", "Tablet MIDI 1", card: 2)

    /// A scene in which a tablet sends tempos as controllers 106 and 107.
    private static func scene() -> GatewayScene {
        var configuration = GatewayConfiguration()
        configuration.isLinkEnabled = false
        configuration.live.controls = [
            Control(
                port: Placed("Tablet", at: .init(file: "", line: 1, column: 1)),
                message: .init(.controller, 106, low: 107), verb: .tempo)
        ]
        var scene = GatewayScene(configuration)
        scene.sequencer.plug(tablet)
        scene.run(for: 10)
        return scene
    }

    private static func send(_ controllers: [(number: Int, value: Int)], in scene: inout GatewayScene) {
        scene.press(
            controllers.map {
                ControlArrival(
                    .init(.controller, $0.number, channel: 1, value: $0.value), at: scene.now, from: tablet.address)
            })
        scene.run(for: 10)
    }

    @Test
    func `a tempo in two parts is set when its low part is there`() {
        var scene = Self.scene()
        Self.send([(106, 1)], in: &scene)
        #expect(scene.status.leadership.timeline.tempo.beatsPerMinute == 120)
        Self.send([(107, 12)], in: &scene)
        #expect(scene.status.leadership.timeline.tempo.beatsPerMinute.rounded() == 140)
        #expect(scene.kept.tempo == 140 && scene.broken.isEmpty)
    }

    @Test
    func `a device that returns first sends a high part again`() {
        var scene = Self.scene()
        Self.send([(106, 0), (107, 90)], in: &scene)
        scene.sequencer.unplug(Self.tablet.address)
        scene.run(for: 10)
        scene.sequencer.plug(Self.tablet)
        scene.run(for: 10)
        Self.send([(107, 50)], in: &scene)
        #expect(scene.status.leadership.timeline.tempo.beatsPerMinute.rounded() == 90)
        Self.send([(106, 0), (107, 50)], in: &scene)
        #expect(scene.status.leadership.timeline.tempo.beatsPerMinute.rounded() == 50)
        #expect(scene.broken.isEmpty)
    }

    @Test
    func `whatever two controllers send, the tempo stays within its range and the log short`() {
        var scene = Self.scene()
        for high in 0..<128 { Self.send([(106, high)] + (0..<128).map { (107, $0) }, in: &scene) }
        #expect(scene.status.leadership.timeline.tempo.beatsPerMinute.rounded() == 999)
        #expect(
            scene.engine.controls.notices.map(\.message) == [
                "a control's tempo was refused: 16383 BPM is not allowed"
            ])
        #expect(scene.log.filter { "\($0.text)" == "control refused" }.count <= Int(LogAllowance.atOnce))
        Self.send([(106, 0), (107, 100)], in: &scene)
        #expect(scene.engine.controls.notices.isEmpty && scene.broken.isEmpty)
    }
}
