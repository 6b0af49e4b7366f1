/// What an examination has read from the machine; ``findings`` says what it means.
struct MachineFacts {
    var sequencer = SequencerFacts()
    var permissions = PermissionFacts()
    var kernel = KernelFacts()
    var service = ServiceFacts()
    var network = NetworkFacts()
}
