// The ring that turns with the session: a segment for each beat of the quantum, and a hand.

/** Position in the session, extrapolated by its tempo between statuses. */
class Position {
  /** Longest delay of a status, in milliseconds; a larger difference is a jump of the session. */
  static #slowest = 150;
  /** The statuses of the last two seconds, and the one that counts. */
  #recent = [];
  #anchor = null;

  /** Takes a status. Each comes a little late, so the least delayed of the recent ones counts, until tempo or place jump. */
  take({ beat, phase, quantum, tempo }, now) {
    const at = (one) => one.beat + Position.#passed(one, now);
    const known = this.#anchor;
    const goesOn = known && known.quantum === quantum && Math.abs(known.tempo - tempo) < 0.1
      && Math.abs(at(known) - beat) * 60000 / tempo < Position.#slowest;
    this.#recent = [{ time: now, beat, phase, quantum, tempo }, ...(goesOn ? this.#recent.filter((one) => now - one.time < 2000) : [])];
    this.#anchor = this.#recent.reduce((best, one) => at(one) > at(best) ? one : best);
  }

  forget() { this.#anchor = null; }

  /** Beats since a status. */
  static #passed(one, now) { return (now - one.time) * one.tempo / 60000; }

  beat(now) { return this.#anchor.beat + Position.#passed(this.#anchor, now); }

  /** Length and position of the cycle; without a quantum it is one beat. Null while unknown. */
  cycle(now) {
    if (!this.#anchor) return null;
    const length = this.#anchor.quantum || 1;
    const phase = (this.#anchor.quantum ? this.#anchor.phase : this.#anchor.beat) + Position.#passed(this.#anchor, now);
    return { length, phase: ((phase % length) + length) % length };
  }
}

class Ring {
  #still = matchMedia("(prefers-reduced-motion: reduce)");
  #parts = [];
  #length = 0;
  #beat = -1;

  constructor(beats, hand, place, position) {
    Object.assign(this, { beats, hand, place, position });
    const draw = (now) => { this.#draw(this.position.cycle(now)); requestAnimationFrame(draw); };
    requestAnimationFrame(draw);
  }

  #draw(cycle) {
    if (cycle && cycle.length !== this.#length) this.#divide(cycle.length);
    const beat = cycle ? Math.floor(cycle.phase) : -1;
    if (beat !== this.#beat) this.#light(beat);
    if (cycle && !this.#still.matches) {
      this.hand.setAttribute("transform", `rotate(${(cycle.phase / cycle.length) * 360} 100 100)`);
      const lit = this.#parts[beat];
      if (lit) lit.style.opacity = 1 - 0.4 * (cycle.phase - beat);
    }
  }

  #light(beat) {
    this.#parts.forEach((part, index) => {
      part.classList.toggle("now", index === beat);
      part.style.opacity = 1;
    });
    this.#beat = beat;
    this.place.textContent = beat < 0 ? "" : this.#length > 1 ? `${beat + 1} / ${+this.#length.toFixed(2)}` : "";
  }

  /** Draws a segment for each beat; the last is shorter if the quantum is not a whole number. */
  #divide(length) {
    this.#length = length;
    this.#beat = -1;
    const gap = Math.min(0.012, 0.06 / length);
    this.#parts = Array.from({ length: Math.ceil(length) }, (_, beat) => {
      const part = document.createElementNS("http://www.w3.org/2000/svg", "path");
      const [from, to] = [beat / length + gap / 2, Math.min(beat + 1, length) / length - gap / 2];
      const point = (share) => [100 + 90 * Math.sin(share * 2 * Math.PI), 100 - 90 * Math.cos(share * 2 * Math.PI)];
      const half = (from + to) / 2;
      part.setAttribute("d", `M${point(from)} A90 90 0 0 1 ${point(half)} A90 90 0 0 1 ${point(to)}`);
      return part;
    });
    this.beats.replaceChildren(...this.#parts);
  }
}
