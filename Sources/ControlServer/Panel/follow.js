// Whose MIDI clock leads while Link is off: a choice among the ports there are.

class FollowChoice {
  #ports = [];
  #choice = "auto";

  constructor(select, choose) {
    this.select = select;
    select.addEventListener("change", () => choose(select.value));
  }

  /** Takes the choice in force. */
  show(choice) {
    if (choice === this.#choice && this.select.value === choice) return;
    this.#choice = choice;
    this.#list();
  }

  /** Takes the ports there are now; our own are nobody to follow. */
  take(ports) {
    const others = ports.filter((port) => port.sends && !port.clientName.startsWith("Tactus"));
    if (JSON.stringify(others) === JSON.stringify(this.#ports)) return;
    this.#ports = others;
    this.#list();
  }

  #list() {
    const choices = new Map([["auto", "Auto (Clock In)"], ["off", "Nobody"]]);
    for (const port of this.#ports) choices.set(...this.#named(port));
    // It may be away, or have been chosen by a part of its name.
    if (!choices.has(this.#choice)) choices.set(this.#choice, this.#choice);
    list(this.select, [...choices], "option", (option, [choice, text]) => {
      option.value = choice;
      write(option, text);
    });
    this.select.value = this.#choice;
  }

  /** What chooses a port, and what it is called: a name is found again wherever it is plugged in, but two may share it. */
  #named(port) {
    const [name, number] = [fullName(port), `${port.client}:${port.port}`];
    const isAlone = this.#ports.filter((other) => fullName(other) === name).length === 1;
    return isAlone ? [name, name] : [number, `${name} (${number})`];
  }
}

const fullName = ({ clientName, portName }) => portName.startsWith(clientName) ? portName : `${clientName}:${portName}`;
