import Testing

@testable import ControlServer

@Suite
struct MetricsTests {
    private let lines = Metrics(.example).text.split(separator: "\n").map(String.init)

    @Test(arguments: [
        "tactus_tempo_beats_per_minute 120.0", "tactus_link_peers 1.0", #"tactus_mode_info{mode="link"} 1.0"#,
        #"tactus_ticks_total{output="tr-8s"} 7"#, #"tactus_late_ticks_total{output="tr-8s"} 1"#,
        #"tactus_skipped_ticks_total{output="tr-8s"} 36"#,
        #"tactus_output_connected{output="tr-8s"} 1.0"#, #"tactus_output_offset_seconds{output="tr-8s"} -0.0025"#,
        #"tactus_dispatch_info{dispatch="queue",scheduling="fifo"} 1.0"#, "tactus_refused_ticks_total 0",
        "# TYPE tactus_tick_lateness_seconds histogram",
    ])
    func `a status has Prometheus' format`(line: String) {
        #expect(lines.contains(line))
    }

    @Test
    func `lateness is a cumulative histogram in seconds`() {
        let histogram = lines.filter { $0.hasPrefix("tactus_tick_lateness_seconds") }
        #expect(histogram[0] == #"tactus_tick_lateness_seconds_bucket{output="tr-8s",le="8e-06"} 3"#)
        #expect(histogram[2] == #"tactus_tick_lateness_seconds_bucket{output="tr-8s",le="3.2e-05"} 5"#)
        #expect(histogram[11] == #"tactus_tick_lateness_seconds_bucket{output="tr-8s",le="+Inf"} 7"#)
        #expect(histogram[12] == #"tactus_tick_lateness_seconds_sum{output="tr-8s"} 0.009095"#)
        #expect(histogram[13] == #"tactus_tick_lateness_seconds_count{output="tr-8s"} 7"#)
    }

    @Test
    func `names may contain any character`() {
        #expect(lines.contains(#"tactus_output_info{output="tr-8s",name="TR-8S \"new\\",profile=""} 1.0"#))
    }

    @Test
    func `each name is explained once, before its figures`() {
        let explained = lines.filter { $0.hasPrefix("# HELP") }.map { $0.split(separator: " ")[2] }
        #expect(Set(explained).count == explained.count)
        #expect(lines.count { $0.hasPrefix("# TYPE") } == explained.count)
    }
}
