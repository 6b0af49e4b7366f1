// The dialog that calibrates an output by listening: a sound card's level, then the measuring, then the result.

class ListenDialog {
  /** How often it is asked how things stand, in milliseconds; the gateway gives up after 10 s without. */
  static #interval = 200;
  #output = null;
  #session = null;
  #report = null;
  /** Counts openings and closings: an answer to what was asked before the newest one comes too late. */
  #opening = 0;

  constructor(gateway, part, tell) {
    Object.assign(this, { gateway, part, tell });
    part.listenForm.addEventListener("submit", (event) => { event.preventDefault(); this.#goOn(); });
    part.listenEnd.addEventListener("click", () => part.listen.close());
    part.listen.addEventListener("close", () => this.#end());
    part.listenDevice.addEventListener("change", () => this.#show());
  }

  /** Opens for an output, with the sound cards there are now. */
  async open(output) {
    const { part } = this;
    this.#output = output;
    const opening = ++this.#opening;
    [this.#session, this.#report] = [null, null];
    write(part.listenTitle, `Calibrate ${shortName(output)} by listening`);
    write(part.listenWrong, "");
    this.#show();
    part.listen.showModal();
    try {
      const cards = await this.gateway.ask("GET", "sound-cards");
      if (opening !== this.#opening) return;
      list(part.listenDevice, cards, "option", (option, { device, name }) => {
        option.value = device;
        write(option, `${name} (${device})`);
      });
      const last = localStorage.getItem("soundCard");
      if (cards.some(({ device }) => device === last)) part.listenDevice.value = last;
      if (!cards.length) write(part.listenWrong, "No audio input was found. Plug one in, then open this again.");
    } catch (error) {
      if (opening !== this.#opening) return;
      write(part.listenWrong, reason(error));
    }
    this.#show();
  }

  /** What the button does now: open the card, start the clock, save the result. */
  async #goOn() {
    const { part } = this;
    write(part.listenWrong, "");
    part.listenGo.disabled = true;
    const opening = this.#opening;
    try {
      switch (this.#report?.state) {
        case "level": return this.#take(await this.#ask("POST", "/measure", {}), opening);
        case "done": return this.#take(await this.#ask("POST", "/save", {}), opening);
        default: await this.#begin(opening);
      }
    } catch (error) {
      if (opening === this.#opening) write(part.listenWrong, reason(error));
    } finally {
      if (opening === this.#opening) this.#show();
    }
  }

  async #begin(opening) {
    const { part } = this;
    const body = { device: part.listenDevice.value, channel: typedNumber(part.listenChannel.value) };
    if (part.listenAgainst.value.trim()) body.against = typedNumber(part.listenAgainst.value);
    if (part.listenLatency.value.trim()) body.inputLatencyMilliseconds = typedNumber(part.listenLatency.value);
    localStorage.setItem("soundCard", body.device);
    const report = await this.gateway.ask("POST", `outputs/${encodeURIComponent(this.#output.id)}/listening`, body);
    if (opening !== this.#opening) {
      await this.gateway.ask("DELETE", `listening/${report.id}`);  // closed meanwhile: nobody waits for it
      return;
    }
    this.#session = report.id;
    this.#take(report, opening);
    this.#watch(report.id);
  }

  /** Asks how it stands until it is over or the dialog is closed. */
  async #watch(session) {
    const opening = this.#opening;
    while (this.#session === session && !this.#isOver) {
      await new Promise((resume) => setTimeout(resume, ListenDialog.#interval));
      if (this.#session !== session) return;
      try {
        const report = await this.#ask("GET", "");
        if (this.#session === session) this.#take(report, opening);
      } catch (error) {
        if (this.#session !== session) return;
        if (error.status !== 409) {
          write(this.part.listenWrong, "No connection to the gateway. Trying again\u2026");
          continue;
        }
        write(this.part.listenWrong, reason(error));
        [this.#session, this.#report] = [null, null];
        this.#show();
      }
    }
  }

  #ask(method, action, body) { return this.gateway.ask(method, `listening/${this.#session}${action}`, body); }

  get #isOver() { return ["done", "failed"].includes(this.#report?.state); }

  #take(report, opening) {
    if (opening !== this.#opening) return;
    this.#report = report;
    write(this.part.listenWrong, report.problem?.message ?? "");
    this.#show();
  }

  /** What was closed before its end is cancelled; the gateway puts the clock back. */
  async #end() {
    this.#opening++;
    const isOpen = this.#session && !this.#isOver;
    const cancelling = isOpen && this.#ask("DELETE", "");
    [this.#session, this.#report] = [null, null];
    if (!isOpen) return;
    try {
      const report = await cancelling;
      this.tell(report.problem?.message === "stopped before there was a result"
        ? "Stopped. The clock has been put back." : report.problem?.message ?? "");
    } catch (error) {
      this.tell(`${reason(error)} The clock is put back within 10 s.`);
    }
  }

  #show() {
    const { part } = this;
    const report = this.#report;
    const state = report?.state ?? "setup";
    const isSetUp = state === "setup" || state === "failed";
    part.listenSetup.hidden = !isSetUp;
    part.listenLive.hidden = isSetUp || state === "done";
    part.listenBeats.hidden = !["measuring", "checking"].includes(state);
    part.listenGo.hidden = !isSetUp && state !== "level" && (state !== "done" || Boolean(report.saved));
    part.listenGo.disabled = isSetUp && !part.listenDevice.value;
    write(part.listenGo, isSetUp ? "Listen" : state === "level" ? "Start measuring" : "Save this offset");
    write(part.listenEnd, isSetUp || state === "done" ? "Close" : "Cancel");
    if (report?.level) {
      this.#meter(part.listenLevel, report.level);
      part.listenOther.parentElement.hidden = !report.otherLevel;
      if (report.otherLevel) this.#meter(part.listenOther, report.otherLevel);
    }
    if (report) [part.listenBeats.max, part.listenBeats.value] = [Math.max(report.beatsNeeded, report.beats), report.beats];
    write(part.listenSays, this.#words(state, report));
    write(part.listenResult, state === "done" ? this.#result(report) : "");
  }

  #meter(meter, { decibels, clipped }) {
    meter.value = decibels ?? -60;
    write(meter.nextElementSibling, clipped ? "clips: turn it down" : decibels === undefined ? "silence" : `${decibels.toFixed(0)} dB`);
  }

  #words(state, report) {
    switch (state) {
      case "opening": return "Opening the sound card.";
      case "level": return "Have the machine play, and set the level to \u221230 to \u22126 dB. Then start.";
      case "waiting": return "Waiting for the start of a bar. Leave tempo and transport alone.";
      case "measuring": return `Listening: ${report.hits} hits on ${report.beats} beats.`;
      case "checking": return "Checking that the sound follows: the clock is moved a little back and forth.";
      case "restoring": return "Putting the clock back.";
      default: return "";
    }
  }

  #result({ result, saved, inputLatencyMilliseconds }) {
    const { delayMicroseconds: delay, offsetMilliseconds: offset } = result;
    const behind = {
      beat: "the beat as this gateway sends it", machine: "what is on the other channel", ownClock: "its own clock",
    }[result.reference];
    const isLatencyIn = result.reference === "beat" && inputLatencyMilliseconds === undefined;
    return [
      `Sounds ${microseconds(Math.abs(delay))} ${delay < 0 ? "before" : "after"} ${behind}, give or take ${microseconds(result.uncertaintyMicroseconds)}.`,
      `Its own spread is ${microseconds(result.spreadMicroseconds)} (${result.verdict}).`,
      `${result.used} hits used, ${result.rejected} rejected; when the clock moved, the sound followed by ${Math.round(100 * result.response)} %.`,
      saved ? `Saved: its offset is ${milliseconds(offset)} ms. ${saved.profile ? `The profile is ${saved.profile}.` : `No profile was written: ${saved.problem}.`}`
        : `The right offset is ${milliseconds(offset)} ms.`,
      ...isLatencyIn ? ["This includes the sound card\u2019s own latency. Measure that once (docs/calibrating.md) and type it in, or compare with another channel."] : [],
    ].join("\n");
  }
}
