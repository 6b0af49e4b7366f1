import Testing

@testable import QRCode

@Suite
struct QRCodeTests {
    /// Texts, and the codes that another program (PyPI's qrcode 8.2) makes of them with the same mask.
    ///
    /// Each row of modules is a hexadecimal number, its highest bit on the left.
    private static let known: [(text: String, version: Int, correction: QRCode.Correction, rows: String)] = [
        (
            "http://10.0.0.5:8808/", 2, .medium,
            """
            1fde17f 104f041 1758f5d 1747b5d 174f95d 105a041 1fd557f b200 146c425 faae4b 12f5e3d 89148 114b6c1 \
            a95ac3 196d3dd 713700 1d7cdf2 18915 1fda159 1044912 174bbf9 174503e 1759fb3 104b7f0 1fd8f89
            """
        ),
        (
            "http://192.168.1.20:8808/#token=correct-horse-battery", 3, .low,
            """
            1fdcc97f 10544041 174a9f5d 174ddb5d 1758c15d 10588041 1fd5557f 116000 1cd224f3 e8f7ac3 b5ea35d \
            10043640 26f54c1 7b3b2c7 18e7a7a9 ba66430 f5b32e9 3a3b64f 1962eb21 6011240 1c4d03fa 1aab1d 1fce3151 \
            10557512 174f13f1 17477933 17526437 10561520 1fda3361
            """
        ),
        (
            text(150, step: 1), 7, .low,
            """
            1fcb863a617f 105ca233ba41 174cb33d7a5d 1758be92cb5d 17464ff1475d 1051691f8841 1fd55555557f e8316bb00 \
            1f7b8df806aa 199285994915 a7490f0b47c 81b4a1d715f 5e3bc3a0488 16104f3379af dcf5affbff6 103d6a16b3f4 \
            1d68c948a20 d198d9bf935 14f9b8705770 1d20c62d5d5d 13f4bff689f8 5164f105b1f 35c755fbd5e 71ce7167117 \
            7f38ffc41f3 15998d18d845 b4f49305418 4850f7ddf4e 360bc2e41f8 19334daa69ad 1079c413bd02 1d262ebe7375 \
            9fd0f00cc13 d260d1aeb8d 14468d05434 f0e83b1df4d 1370bdf2cdfa 1b4d194b1d 1fdae550bf5a 1040631e7316 \
            1757cdf807f3 175d0e09c8fe 175f59a2556d 10556a11dc2c 1fd0be3a057a
            """
        ),
        (
            text(230, step: 7), 9, .low,
            """
            1fdce53afa5c7f 105a3276158e41 1757168817aa5d 1751b065e4155d 17496dbfc86c5d 10552bd106b441 \
            1fd5555555557f f52d1db6c00 19c04fbf97662f 2246d92d97d0b 155e3be571eea3 a1aff4a605c72 1c534f88d32212 \
            a0b6daefa5d23 1acfa2e150d48b b318b0bac17b9 1a7e4c981bea9c 15b66fa6eb4d33 147c5c9960d50f \
            180661e82c1998 8e77ca95fadff 142e83b6597d17 1567cd9dc2c623 60116a9e892da 3f67cbfd321fd \
            131a835140e715 5522a15f94f57 71ab831a87d1b 9fc7cbfd765fd 7bd837963c539 1fdd3befdb6dff 113bff6106b918 \
            1d467c841beb24 4ac837272d471 c54416fd85fcb 7012595c6b139 13c67ea55faf84 1c0c837040e6fd \
            15d75cb3ca7ed7 139261ed427d0a 11c9deb6d32246 406cb7351f4b5 1beeb73b42c473 c261c5942f5ea \
            2649e9f9767f6 12cbd172d51b 1fc42a1573e559 1058b8310e0b18 17541e9f5f8ffb 17468bcf63c7c9 \
            1748c16653e68c 105692f435886b 1fd9961839cb1a
            """
        ),
    ]

    /// Characters from 33 to 122, each `step` after the one before.
    private static func text(_ count: Int, step: Int) -> String {
        String(decoding: (0..<count).map { UInt8(33 + $0 * step % 90) }, as: UTF8.self)
    }

    @Test(arguments: known.indices)
    func `a code is module for module that of another program`(number: Int) throws {
        let (text, version, correction, rows) = Self.known[number]
        let code = try #require(QRCode(Array(text.utf8)))
        #expect(code.version == version && code.correction == correction)
        let ours = (0..<code.size).map { y in
            String((0..<code.size).reduce(0 as UInt64) { $0 << 1 | (code.isDark(x: $1, y: y) ? 1 : 0) }, radix: 16)
        }
        #expect(ours == rows.split(separator: " ").map(String.init))
    }

    @Test(arguments: [
        (14, 1, QRCode.Correction.medium), (15, 1, .low), (17, 1, .low), (18, 2, .medium), (230, 9, .low),
        (134, 6, .low), (193, 9, .low), (231, 10, .low), (271, 10, .low),
    ])
    func `the smallest version is used, with the better correction where that needs none larger`(
        count: Int, version: Int, correction: QRCode.Correction
    ) throws {
        let code = try #require(QRCode(Array(repeating: 0x61, count: count)))
        #expect(code.version == version && code.correction == correction)
        #expect(code.size == 17 + 4 * version)
    }

    @Test
    func `what is too long gets no code`() {
        #expect(QRCode.capacity == 271)
        #expect(QRCode(Array(repeating: 0x61, count: 272)) == nil)
    }

    @Test
    func `the text shows each module, in a quiet zone of four`() throws {
        let code = try #require(QRCode(Array("http://10.0.0.5:8808/".utf8)))
        #expect(code.lines.count == (code.size + 9) / 2)
        for (row, line) in code.lines.enumerated() {
            let halves = line.map { character -> (Bool, Bool) in
                ("▄ ".contains(character), "▀ ".contains(character))
            }
            #expect(halves.count == code.size + 8)
            for (column, half) in halves.enumerated() {
                #expect(half.0 == code.isDark(x: column - 4, y: 2 * row - 4))
                #expect(half.1 == code.isDark(x: column - 4, y: 2 * row - 3))
            }
        }
    }
}
