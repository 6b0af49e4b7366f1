import BeatTime
import Testing

@Suite
struct PhaseTests {
    @Test
    func `a negative beat has a phase too`() {
        #expect(Beats(-0.25).phase(quantum: Beats(4)) == Beats(3.75))
    }
}
