/// All facts about the machine; their meaning is judged elsewhere.
struct MachineFacts {
    var sequencer = SequencerFacts()
    var permissions = PermissionFacts()
    var kernel = KernelFacts()
    var service = ServiceFacts()
    var network = NetworkFacts()
}
