// Where the session is: its beat, the bar of the song, and the phrase.

/** Position in the session, extrapolated by its tempo between statuses. */
class Position {
  /** Longest delay of a status, in milliseconds; a larger difference is a jump of the session. */
  static #slowest = 150;
  /** The statuses of the last two seconds, and the one that counts. */
  #recent = [];
  #anchor = null;
  #newest = null;

  /** Takes a status. Each comes a little late, so the least delayed of the recent ones counts, until tempo or place jump. */
  take({ beat, phase, quantum, tempo, songBeats }, now) {
    const at = (one) => one.beat + Position.#passed(one, now);
    const known = this.#anchor;
    const goesOn = known && known.quantum === quantum && Math.abs(known.tempo - tempo) < 0.1
      && Math.abs(at(known) - beat) * 60000 / tempo < Position.#slowest;
    this.#newest = { time: now, beat, phase, quantum, tempo, begin: beat - (songBeats ?? NaN) };
    this.#recent = [this.#newest, ...(goesOn ? this.#recent.filter((one) => now - one.time < 2000) : [])];
    this.#anchor = this.#recent.reduce((best, one) => at(one) > at(best) ? one : best);
  }

  forget() { this.#anchor = null; }

  /** Beats since a status. */
  static #passed(one, now) { return (now - one.time) * one.tempo / 60000; }

  beat(now) { return this.#anchor.beat + Position.#passed(this.#anchor, now); }

  /** Length and position of the cycle, one beat without a quantum; and the bar of the song, from 1, or NaN. Null while unknown. */
  cycle(now) {
    if (!this.#anchor) return null;
    const length = this.#anchor.quantum || 1;
    const passed = (this.#anchor.quantum ? this.#anchor.phase : this.#anchor.beat) + Position.#passed(this.#anchor, now);
    const phase = ((passed % length) + length) % length;
    return { length, phase, bar: Math.max(1, Math.ceil((this.beat(now) - this.#newest.begin - phase) / length - 0.05) + 1) };
  }
}

/** Draws a row of segments, of which those before the present one are done, and the present one fills. */
class Marks {
  #length = 0;
  #now = null;

  constructor(element) { this.element = element; }

  /** @param now the index of the present one; -1 for none. */
  draw(length, now, filled) {
    if (length !== this.#length) {
      this.#length = length;
      this.#now = null;
      list(this.element, Array.from({ length: Math.ceil(length) }), "i", (mark, _) => mark.style.removeProperty("flex-grow"));
      if (length % 1) this.element.lastElementChild.style.flexGrow = length % 1;
    }
    if (now !== this.#now) {
      this.#now = now;
      [...this.element.children].forEach((mark, index) => { mark.className = index === now ? "now" : index < now ? "done" : ""; });
    }
    this.element.children[now]?.style.setProperty("--filled", filled.toFixed(3));
  }
}

/** Tells the views in each frame where the session is. The length of a phrase, in bars, is each browser's own. */
class Pulse {
  static #lengths = [4, 8, 16];
  #still = matchMedia("(prefers-reduced-motion: reduce)");
  #beat = null;
  #views = [];

  constructor(part, position) {
    this.phrase = +localStorage.getItem("phrase") || 4;
    const say = () => { part.phrase.ariaLabel = `Phrase of ${this.phrase} bars, change it`; };
    part.phrase.addEventListener("click", () => {
      this.phrase = Pulse.#lengths[(Pulse.#lengths.indexOf(this.phrase) + 1) % Pulse.#lengths.length];
      localStorage.setItem("phrase", this.phrase);
      say();
    });
    say();
    const [marks, bars] = [new Marks(part.marks), new Marks(part.phrase)];
    this.show(({ length, phase, bar, beat }) => {
      marks.draw(length, beat, phase - beat);
      bars.draw(this.phrase, this.inPhrase(bar), 1);
      write(part.place, length > 1 && beat >= 0 ? `${beat + 1} / ${+length.toFixed(2)}` : "");
      write(part.barNumber, bar ? `Bar ${bar}` : "");
    });
    const draw = (now) => {
      const cycle = position.cycle(now) ?? { length: 0, phase: 0, bar: NaN, isUnknown: true };
      const beat = cycle.isUnknown ? -1 : this.#steady(cycle);
      this.#beat = beat;
      const fade = this.#still.matches ? 0 : 1 - Math.min(Math.max(cycle.phase - beat, 0), 1);
      for (const view of this.#views) view({ ...cycle, phase: this.#still.matches ? beat + 1 : cycle.phase, beat, fade, now });
      requestAnimationFrame(draw);
    };
    requestAnimationFrame(draw);
  }

  /** Adds a view, which is called in each frame. */
  show(view) { this.#views.push(view); }

  inPhrase(bar) { return bar ? (bar - 1) % this.phrase : -1; }

  /** The beat of the bar. If a new status moves the position back a little across a beat, the newer beat stays. */
  #steady({ length, phase }) {
    const beat = Math.floor(phase);
    const isBack = this.#beat !== null && (beat + 1) % Math.ceil(length) === this.#beat && phase - beat > 0.75;
    return isBack && length > 1 ? this.#beat : beat;
  }
}
