/// How many peers or measurements each address has.
struct AddressCounts: Sendable {
    private var counts: [IPAddress: Int] = [:]

    mutating func add(_ step: Int, to address: IPAddress) {
        let count = counts[address, default: 0] + step
        counts[address] = count > 0 ? count : nil
    }

    /// The address with the most, if it has more than `share`.
    func greediest(above share: Int) -> IPAddress? {
        var most: (address: IPAddress, count: Int)?
        for (address, count) in counts where count > share {
            if let most, (count, most.address) < (most.count, address) { continue }
            most = (address, count)
        }
        return most?.address
    }
}
