/// What was read of the machine, all of it; what it means is said elsewhere.
struct MachineFacts {
    var sequencer = SequencerFacts()
    var permissions = PermissionFacts()
    var kernel = KernelFacts()
    var service = ServiceFacts()
    var network = NetworkFacts()
}
