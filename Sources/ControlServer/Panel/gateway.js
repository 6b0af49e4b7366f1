// The connection to the gateway: its newest status, commands, and whether it can be reached.

/** Silence after which the connection counts as lost, in milliseconds; the gateway sends four times a second. */
const SILENCE = 1500;

class CommandError extends Error {
  constructor(status, code, message) { super(message); [this.status, this.code] = [status, code]; }
}

class Gateway {
  /** @param {{status: function(object), reach: function(boolean), token: function(): Promise<string>, command: function(): function()}} on */
  constructor(on) {
    this.on = on;
    this.token = this.#tokenOfAddress() ?? localStorage.getItem("token") ?? "";
  }

  /** Reads a token from #token= in the address, which browsers do not send; stores it and removes it there. */
  #tokenOfAddress() {
    // A plus is a letter of the token, not a space as in forms.
    const token = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B")).get("token");
    if (token === null) return null;
    localStorage.setItem("token", token);
    history.replaceState(null, "", location.pathname);
    return token;
  }

  /** Sends a command; the answer is the new status. */
  async command(method, path, body) {
    const status = await this.ask(method, path, body);
    this.on.status(status);
    return status;
  }

  /** Asks for something else than the status. */
  async ask(method, path, body) {
    const ended = method === "GET" ? null : this.on.command();
    try {
      const answer = await this.#request(method, path, body, AbortSignal.timeout(4000));
      return await answer.json();
    } finally {
      ended?.();
    }
  }

  async #request(method, path, body, signal) {
    const headers = {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    const answer = await fetch(`api/v1/${path}`, {
      method, headers, signal, body: JSON.stringify(body), cache: "no-store", credentials: "omit", redirect: "error",
    });
    if (answer.ok) return answer;
    const { error } = await answer.json().catch(() => ({ error: { code: "unknown", message: `answer ${answer.status}` } }));
    throw new CommandError(answer.status, error.code, error.message);
  }

  /** Listens forever: reopens a stream that ends or falls silent. */
  async listen() {
    for (let delay = 250; ; delay = Math.min(delay * 2, 2000)) {
      try {
        await this.#stream(() => { delay = 250; this.on.reach(true); });
      } catch (error) {
        if (error.code === "unauthorized") {
          this.token = await this.on.token(this.token !== "");
          localStorage.setItem("token", this.token);
          continue;
        }
      }
      // A hidden page has ended its stream itself.
      if (!document.hidden) this.on.reach(false);
      await new Promise((resume) => setTimeout(resume, delay));
    }
  }

  async #stream(heard) {
    if (document.hidden) await new Promise((resume) => document.addEventListener("visibilitychange", resume, { once: true }));
    const ending = new AbortController();
    const end = () => ending.abort();
    const hide = () => { if (document.hidden) end(); };
    let silence = setTimeout(end, SILENCE * 2);
    document.addEventListener("visibilitychange", hide);
    addEventListener("offline", end);
    try {
      const answer = await this.#request("GET", "events", undefined, ending.signal);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ""; ;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(end, SILENCE);
        const events = (text + value).split("\n\n");
        text = events.pop();
        const data = events.at(-1)?.match(/^data: (.*)$/m);
        if (!data) continue;
        heard();
        this.on.status(JSON.parse(data[1]));
      }
    } finally {
      clearTimeout(silence);
      document.removeEventListener("visibilitychange", hide);
      removeEventListener("offline", end);
    }
  }
}
