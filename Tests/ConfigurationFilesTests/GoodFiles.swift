/// Valid files, which other tests modify.
enum GoodFiles {
    static let profile = """
        version: 1
        name: Roland TR-8S
        match: ["TR-8S MIDI 1"]        # ALSA port names, trimmed, case-insensitive; first match wins
        clock:
          when: always                 # always | playing
          offset: -2.0                 # ms, negative = earlier, -500 to 500
          multiply: 1
          divide: 1
          swing: 50                    # percent of an eighth at which its second sixteenth falls, 50 to 75
          range: [40, 300]             # BPM the device takes, at least an octave; outside, the tempo is folded
          preroll: 0                   # beats of clock before Start
          smoothing: 0                 # ms over which tempo changes are spread, 0 to 500
          rephase: allowed             # allowed | never (loopers)
        transport:
          start: start                 # start | continue | none
          stop: true
          continue: true
          song-position: true
          lead: 1.0                    # ms from Start to the tick that is the beat
          locate: 20                   # ms from Song Position to Continue
          realign: song-position       # song-position | restart | none
        input:
          role: none                   # none | leader: may be followed when Link is off
          transport: false             # its Start and Stop buttons act as a remote control, in any mode
          echoes: false                # device copies its input to its output
        notes:
          - fact: transmits clock at all times
            source: https://example.org/tr-8s?page=2
            confidence: high           # high | medium | low

        """

    static let everyDefault = """
        version: 1
        name: Box
        match: []
        clock: { when: always, offset: 0, multiply: 1, divide: 1, swing: 50.0, range: [20, 999], preroll: 0,
                 smoothing: 0, rephase: allowed }
        transport: { start: start, stop: true, continue: true, song-position: true, lead: 1, locate: 20.000,
                     realign: song-position }
        input: { role: none, transport: false, echoes: false }
        notes:
        """

    static let everyKey = """
        notes:
        - fact: "*blinks*: often,
            and again"
          source: unsourced
          confidence: medium
        - { confidence: low, source: 'a friend''s', fact: hums & ? % }
        input:
            echoes: true
            role: leader
            transport: true
        transport:
          realign: none
          locate: 0.5
          lead: 9.5
          song-position: false
          continue: true
          stop: false
          start: continue
        clock:
          rephase: never
          smoothing: 0.250
          preroll: 8
          range:
          - 60.5
          - 121
          swing: 66.7
          divide: 96
          multiply: 16
          offset: 499.999
          when: "playing"
        match:
          - Box MIDI 1   # spaces around a name do not count
          - " *808* "
        name: Box
        version: 1
        """

    static let configuration = """
        version: 1
        outputs:                       # as --output, with overrides of the profile
          - port: TR-8S
            profile: roland-tr-8s
            clock: { offset: -3.5 }
          - port: raw:/dev/ttyAMA0@31250
            profile: generic
        auto-connect: true             # also connect devices that a profile recognises
        follow: { source: auto, when-lost: hold }      # hold | stop
        link: { quantum: 4, interfaces: [], deactivate-when-idle: false }
        tempo-range: [20, 999]
        http: { address: 127.0.0.1, port: 8808, token-file: null }
        osc: { enabled: false, address: 127.0.0.1, port: 8809 }
        controls:                      # feet and controllers
          - { port: "FCB1010", message: { program: 1 }, do: play }
        log: { level: notice, format: text }

        """

    static let otherConfiguration = """
        version: 1
        outputs:
          - port: "24:0"
            transport:
              stop: false
        auto-connect: false
        follow:
          source: off
          when-lost: stop
        link:
          quantum: 0.5
          interfaces: [eth0, wlan0]
          deactivate-when-idle: true
        tempo-range: [70, 140.5]
        http: { address: "::1", port: 65535, token-file: /etc/tactus/token }
        osc: { enabled: true, address: 0.0.0.0, port: 1 }
        controls:
          - port: nanoKONTROL2
            message: { controller: 41, channel: 16 }
            do: toggle-play
          - { port: Pads, message: { note: 0, channel: 1 }, do: link-off }
          - { port: Pads, message: { note: 1 }, do: tempo, tempo: 20.125 }
          - { port: FCB1010, do: tempo, message: { programs: { 0: 120, 127: 128.5 }, channel: 10 } }
          - { port: Tablet, message: { controllers: [106, 107] }, do: tempo }
        log: { level: critical, format: json }
        """

    static let profiles = [profile, everyDefault, everyKey]
    static let configurations = [configuration, otherConfiguration]
}
