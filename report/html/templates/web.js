// The page holds its place (model, path, at) and puts it into the URL; the server computes every state from it.
(() => {
  const by = (id) => document.getElementById(id);
  const place = { model: null, path: [], at: 0, watch: [] };
  const page = { start: null, now: null, token: 0, timer: 0, search: 0, steps: [] };

  const make = trace.make;

  // ------------------------------------------------------------------ asking the server

  async function ask(path, body) {
    const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
    let reply;
    try {
      reply = await fetch(path, options);
    } catch (fault) {
      throw new Error("elrcheck does not answer: it has ended, or it was restarted on another port");
    }
    const answer = await reply.json();
    if (answer.error) {
      const { code, message, help } = answer.error;
      throw new Error(`error[${code}]: ${message}${help ? `\n${help}` : ""}`);
    }
    return answer;
  }

  function fail(fault) { by("fault").textContent = fault.message; }
  function guarded(work) { return (...given) => Promise.resolve(work(...given)).catch(fail); }

  // ------------------------------------------------------------------ the place in the URL

  function link() {
    const said = new URLSearchParams();
    said.set("variant", place.model.variant);
    said.set("scope", place.model.scope);
    for (const pair of place.model.overrides) said.append("set", pair);
    if (place.model.start) said.set("start", String(place.model.start));
    if (place.path.length) said.set("path", place.path.join("/"));
    if (place.at !== place.path.length) said.set("at", String(place.at));
    for (const text of place.watch) said.append("watch", text);
    return `#${said}`;
  }

  function placeOf(hash) {
    const said = new URLSearchParams(hash.replace(/^#/, ""));
    const base = page.start.model;
    const named = said.has("variant") || said.has("scope") || said.has("set");
    const path = (said.get("path") || "").split("/").filter((word) => word);
    const at = said.has("at") ? Number(said.get("at")) : path.length;
    return {
      model: {
        variant: said.get("variant") || base.variant, scope: said.get("scope") || base.scope,
        overrides: named ? said.getAll("set") : base.overrides,
        start: said.has("start") ? Number(said.get("start")) || 0 : named ? 0 : base.start,
      },
      path, at: Number.isInteger(at) && at >= 0 ? at : path.length, watch: said.getAll("watch"),
    };
  }

  // ------------------------------------------------------------------ moving

  async function go(next, focus) {
    const token = ++page.token;
    const watch = next.watch || place.watch;
    const answer = await ask("/api/state", { ...next, watch });
    if (token !== page.token) return;
    by("fault").textContent = "";
    Object.assign(place, { model: answer.model, path: answer.path, at: answer.at, watch });
    page.now = answer;
    draw(answer);
    history.replaceState(null, "", link());
    if (focus) (by("choices").querySelector("button") || by("actions")).focus();
  }

  const take = guarded((choice, focus) =>
    go({ model: place.model, path: [...place.path.slice(0, place.at), choice.step] }, focus));
  const jump = guarded((at) => {
    const to = Math.max(0, Math.min(place.path.length, at));
    return to === place.at ? undefined : go({ model: place.model, path: place.path, at: to });
  });
  const watch = guarded(async (expressions) => {
    await go({ model: place.model, path: place.path, at: place.at, watch: expressions });
    by("expression").value = "";
  });
  const restart = guarded(() => {
    const overrides = by("overrides").value.split(/\s+/).filter((word) => word);
    return go({ model: { variant: by("variant").value, scope: by("scope").value, overrides, start: by("start").selectedIndex < 0 ? 0 : by("start").selectedIndex }, path: [] });
  });
  const follow = guarded(async () => {
    const wanted = placeOf(location.hash);
    try {
      await go(wanted);
    } catch (fault) {
      await go({ model: wanted.model, path: [], watch: [] }).catch(() => go({ model: page.start.model, path: [], watch: [] }));
      fail(fault);
    }
  });

  function moved(key) {
    const goes = { first: 0, back: place.at - 1, next: place.at + 1, last: place.path.length };
    return jump(goes[key]);
  }

  // ------------------------------------------------------------------ drawing

  function draw(state) {
    const last = state.at ? state.steps[state.at - 1] : null;
    const broken = state.violated[state.at];
    by("state-title").textContent = `State ${state.at} of ${state.path.length}`;
    by("sentence").textContent = state.sentence;
    by("step").textContent = last ? called(last) : "the initial state";
    trace.rule(by("rule"), last ? last.because : "", last ? last.source : "", state.rule);
    by("scrub").max = String(state.path.length);
    by("scrub").value = String(state.at);
    by("scrub").setAttribute("aria-valuetext", `State ${state.at}. ${state.sentence}`);
    by("broken").textContent = broken.length ? `✗ violated here: ${broken.join(", ")}` : "";
    const held = document.createElement("template");
    held.innerHTML = state.picture; // escaped by the server; the policy of the page allows no script in it
    by("picture").replaceChildren(held.content);
    drawPath(state);
    drawWatched(state);
    drawLeaves(state, last);
    by("raw").textContent = JSON.stringify(state.state, null, 1);
    drawChoices(state);
    trace.refused(by("refused"), state.refused);
    drawProperties(state);
    drawModel(state.model, state.starts);
    for (const button of document.querySelectorAll("[data-go]")) {
      const none = ["first", "back"].includes(button.dataset.go) ? state.at === 0 : state.at === state.path.length;
      button.setAttribute("aria-disabled", String(none));
    }
    const said = `State ${state.at}. ${last ? called(last) : "Initial state"}. ${state.choices.length} actions.`;
    by("status").textContent = broken.length ? `${said} Violated: ${broken.join(", ")}.` : said;
  }

  function called(step) {
    return `${step.action}(${step.arguments.map((given) => `${given.name}=${given.value}`).join(", ")})`;
  }

  function drawPath(state) {
    const box = by("steps"), held = document.createElement("template");
    held.innerHTML = state.sequence; // escaped by the server, as the picture is
    for (const row of held.content.querySelectorAll("[data-step]")) {
      const broken = state.violated[Number(row.dataset.step)];
      row.classList.toggle("broken", broken.length > 0);
      if (broken.length) row.querySelector(".said").append(make("span", `✗ ${broken.join(", ")}`, "fact failed"));
    }
    box.replaceChildren(held.content);
    trace.mark(box, state.at);
    by("repro").textContent = state.repro ? `On the command line: --repro ${state.repro}` : "";
  }

  // A row for each expression, a column for each state of the path; of a step, the state that it leads to.
  function drawWatched(state) {
    const box = by("watched"), head = make("tr");
    head.append(make("th", "watched"), ...state.violated.map((_, at) => make("th", String(at), at === state.at ? "here" : "")));
    for (const cell of head.children) cell.scope = "col";
    const rows = state.watched.map((one, number) => {
      const row = make("tr"), name = make("th", `${one.expression} `), drop = make("button", "✕");
      name.scope = "row";
      drop.type = "button";
      drop.setAttribute("aria-label", `Stop watching ${one.expression}`);
      drop.addEventListener("click", () => watch(place.watch.filter((_, other) => other !== number)));
      name.append(drop);
      const values = new Map(one.values.map((given) => [given.at, given]));
      row.append(name, ...state.violated.map((_, at) => {
        const given = values.get(at), classes = [at === state.at ? "here" : "", given && given.changed && values.has(at - 1) ? "changed" : ""];
        const cell = make("td", given ? given.value ?? "–" : "", classes.filter((word) => word).join(" "));
        if (given && given.why) cell.title = given.why;
        return cell;
      }));
      return row;
    });
    box.hidden = !rows.length;
    box.querySelector("thead").replaceChildren(head);
    box.querySelector("tbody").replaceChildren(...rows);
    const here = box.querySelector("thead .here");
    if (here && rows.length) box.scrollLeft = Math.max(0, here.offsetLeft - box.clientWidth / 2);
  }

  function drawLeaves(state, last) {
    const old = new Map((last ? last.changes : []).map((change) => [change.path, change.old]));
    const rows = Object.entries(state.leaves).map(([path, value]) => {
      const row = make("tr"), head = make("th", path);
      head.scope = "row";
      row.append(head, make("td", value, old.has(path) ? "changed" : ""), make("td", old.get(path) || ""));
      return row;
    });
    by("leaves").replaceChildren(...rows);
  }

  function drawChoices(state) {
    const words = by("filter").value.toLowerCase().split(/\s+/).filter((word) => word);
    const shown = state.choices.filter((choice) => {
      const text = [choice.label, ...choice.changes.map((change) => change.path)].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    by("actions-title").textContent = words.length
      ? `What can happen next: ${shown.length} of ${state.choices.length}`
      : `What can happen next: ${state.choices.length}`;
    const item = (choice) => {
      const button = make("button");
      button.type = "button";
      button.append(make("span", choice.label, "call"), make("span", choice.about, "about"));
      const here = state.violated[state.at], breaks = choice.violates.filter((ident) => !here.includes(ident));
      const mends = here.filter((ident) => !choice.violates.includes(ident));
      if (breaks.length) button.append(make("span", ` ✗ violates ${breaks.join(", ")}`, "breaks"));
      if (mends.length) button.append(make("span", ` ends the violation of ${mends.join(", ")}`, "mends"));
      const changes = choice.changes.filter((change) => !change.path.startsWith("spent."));
      for (const change of changes.slice(0, 4)) {
        button.append(make("span", `${change.path}: ${change.old} → ${change.new}`, "delta"));
      }
      if (changes.length > 4) button.append(make("span", `and ${changes.length - 4} more`, "delta"));
      if (!changes.length) button.append(make("span", "no change but of what is counted", "delta"));
      button.addEventListener("click", () => take(choice, document.activeElement === button));
      const made = make("li");
      made.append(button);
      return made;
    };
    const within = shown.filter((choice) => !choice.beyond), beyond = shown.filter((choice) => choice.beyond);
    const open = Boolean(by("choices").querySelector("details[open]"));
    by("choices").replaceChildren(...within.map(item));
    if (!within.length) by("choices").append(make("li", beyond.length ? "Nothing within the budgets of the scope." : "No action."));
    if (beyond.length) {
      const more = make("li"), details = make("details"), list = make("ul");
      details.append(make("summary", `${beyond.length} beyond the budgets of the scope, where no search follows`));
      details.open = open;
      list.append(...beyond.map(item));
      details.append(list);
      more.append(details);
      by("choices").append(more);
    }
  }

  function drawProperties(state) {
    const of = (...verdicts) => state.properties.filter((found) => verdicts.includes(found.verdict));
    const parts = [];
    const broken = of("violated");
    if (broken.length) {
      const list = make("ul");
      for (const found of broken) {
        const item = make("li");
        item.append(make("strong", `✗ ${found.id} ${found.name}`, "failed"), make("span", ` ${found.about}`));
        const why = [found.conjunct, found.witness ? `for ${found.witness}` : ""].filter((word) => word).join(", ");
        if (why) item.append(make("span", ` False: ${why}.`, "mono"));
        list.append(item);
      }
      parts.push(list);
    } else parts.push(make("p", "✓ No property is violated in this state.", "passed"));
    for (const [word, title] of [["holds", "hold"], ["not judged", "are about steps: the first state has none before it"], ["reached", "witnesses are reached"], ["not reached", "witnesses are not reached"]]) {
      const found = of(word);
      if (!found.length) continue;
      const details = make("details"), list = make("ul");
      details.append(make("summary", `${found.length} ${title}`));
      for (const one of found) {
        const item = make("li");
        item.append(make("strong", `${one.id} ${one.name}`), make("span", ` ${one.about}`, "small"));
        list.append(item);
      }
      details.append(list);
      parts.push(details);
    }
    const open = new Set([...by("judged").querySelectorAll("details[open] summary")].map((one) => one.textContent.replace(/^\d+ /, "")));
    for (const part of parts) if (part.tagName === "DETAILS") part.open = open.has(part.firstChild.textContent.replace(/^\d+ /, ""));
    by("judged").replaceChildren(...parts);
  }

  function option(value, text) {
    const made = make("option", text === undefined ? value : text);
    made.value = value;
    return made;
  }

  function drawModel(model, starts) {
    by("starts").hidden = starts < 2;
    by("start").replaceChildren(...Array.from({ length: starts }, (_, k) => option(String(k))));
    by("start").value = String(model.start);
    for (const key of ["variant", "scope"]) {
      if (![...by(key).options].some((one) => one.value === model[key])) by(key).append(option(model[key]));
      by(key).value = model[key];
    }
    by("overrides").value = model.overrides.join(" ");
    by("named").textContent = [model.variant, model.scope, ...model.overrides, ...(starts > 1 ? [`initial state ${model.start}`] : [])].join(" ");
    const about = (list, name) => (list.find((one) => one.name === name) || { about: "" }).about;
    const said = [about(page.start.variants, model.variant), about(page.start.scopes, model.scope)];
    by("about").textContent = said.filter((text) => text).join(" · ");
  }

  // ------------------------------------------------------------------ traces

  const read = guarded(async (file) => {
    if (!file) return;
    if (file.size > 32 * 2 ** 20) throw new Error("the file is larger than 32 MiB");
    await show(await ask("/api/read", { text: await file.text(), name: file.name, model: place.model }));
  });

  async function show(trace) {
    await go({ model: trace.model, path: trace.path });
    const notes = [];
    if (trace.refused) notes.push(trace.refused);
    if (trace.loop !== null) notes.push(`a behaviour without an end: the last step leads back to state ${trace.loop}`);
    if (notes.length) fail(new Error(notes.join("\n")));
  }

  const save = guarded(async () => {
    const trace = await ask("/api/write", { model: place.model, path: place.path });
    const anchor = make("a");
    anchor.href = URL.createObjectURL(new Blob([`${JSON.stringify(trace, null, 1)}\n`], { type: "application/json" }));
    anchor.download = `${trace.property || "walk"}.trace.json`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
  });

  const share = guarded(async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      by("status").textContent = by("share").textContent = "Link copied";
    } catch (fault) {
      throw new Error("the browser does not let the page copy: the link is in its address bar");
    }
    setTimeout(() => { by("share").textContent = "Copy the link"; }, 2000);
  });

  // ------------------------------------------------------------------ searches

  const hunt = guarded(async () => {
    const from = { model: place.model, path: place.path.slice(0, place.at) };
    const news = await ask("/api/search", {
      ...from, property: by("wanted").value, seconds: Math.round(Number(by("seconds").value)) || 20,
      max_states: Math.round(Number(by("states").value)) || 5000000,
    });
    page.search = news.id;
    tell(news);
  });

  function tell(news) {
    const running = news.verdict === "searching";
    by("begin").disabled = running;
    by("cancel").disabled = !running;
    by("news").textContent = running ? `${news.said} (${news.seconds} s)` : news.said;
    by("news").className = { violated: "failed", holds: "passed", failed: "failed" }[news.verdict] || "";
    clearTimeout(page.timer);
    if (running) page.timer = setTimeout(guarded(poll), 300);
  }

  async function poll() {
    const news = await ask("/api/search");
    if (news.id !== page.search) return;
    tell(news);
    if (news.verdict === "violated") await go({ model: news.model, path: news.path });
  }

  const cancel = guarded(async () => tell(await ask("/api/cancel", {})));

  // ------------------------------------------------------------------ keys

  function among(list, key) {
    const shown = (one) => one.tagName === "SUMMARY" || !one.closest("details:not([open])");
    const buttons = [...list.querySelectorAll("button, a.title, summary")].filter(shown);
    if (!buttons.length) return;
    const here = buttons.indexOf(document.activeElement);
    const next = here < 0 ? (key === "ArrowDown" ? 0 : buttons.length - 1) : here + (key === "ArrowDown" ? 1 : -1);
    const chosen = buttons[Math.max(0, Math.min(buttons.length - 1, next))];
    chosen.focus();
    chosen.scrollIntoView({ block: "nearest" });
  }

  function pressed(event) {
    const at = document.activeElement;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (at && at !== by("scrub") && at.matches("input, select, textarea")) {
      if (at === by("filter") && event.key === "ArrowDown") { event.preventDefault(); among(by("choices"), event.key); }
      if (at === by("filter") && event.key === "Enter") { const first = by("choices").querySelector("button"); if (first) first.click(); }
      return;
    }
    if (at && at.matches(".scroll, pre") && event.key.startsWith("Arrow")) return;
    const moves = { ArrowLeft: "back", Backspace: "back", ArrowRight: "next", Home: "first", End: "last" };
    if (event.key in moves) { event.preventDefault(); moved(moves[event.key]); }
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      among(at && by("steps").contains(at) ? by("steps") : by("choices"), event.key);
    } else if (event.key === "/") { event.preventDefault(); by("filter").focus(); }
  }

  // ------------------------------------------------------------------ beginning

  function listen() {
    by("model").addEventListener("submit", (event) => { event.preventDefault(); restart(); });
    by("hunt").addEventListener("submit", (event) => { event.preventDefault(); hunt(); });
    by("watch").addEventListener("submit", (event) => {
      event.preventDefault();
      const text = by("expression").value.trim();
      if (text && !place.watch.includes(text)) watch([...place.watch, text]);
    });
    by("cancel").addEventListener("click", cancel);
    by("open").addEventListener("click", () => by("file").click());
    by("file").addEventListener("change", (event) => { read(event.target.files[0]); event.target.value = ""; });
    by("save").addEventListener("click", save);
    by("share").addEventListener("click", share);
    by("filter").addEventListener("input", () => { if (page.now) drawChoices(page.now); });
    by("scrub").addEventListener("input", () => jump(Number(by("scrub").value)));
    trace.choose(by("steps"), jump);
    for (const button of document.querySelectorAll("[data-go]")) button.addEventListener("click", () => moved(button.dataset.go));
    document.querySelector("[data-skip]").addEventListener("click", (event) => { event.preventDefault(); by("actions").focus(); });
    document.addEventListener("keydown", pressed);
    window.addEventListener("hashchange", follow);
    for (const kind of ["dragover", "dragleave", "drop"]) {
      window.addEventListener(kind, (event) => {
        event.preventDefault();
        document.body.classList.toggle("dropping", kind === "dragover");
        if (kind === "drop") read(event.dataTransfer.files[0]);
      });
    }
  }

  const begin = guarded(async () => {
    page.start = await ask("/api/start");
    by("version").textContent = page.start.version;
    by("variant").replaceChildren(...page.start.variants.map((one) => option(one.name)));
    by("scope").replaceChildren(...page.start.scopes.map((one) => option(one.name)));
    const legend = document.createElement("template");
    legend.innerHTML = page.start.legend; // written by the server, as the pictures are
    by("legend").replaceChildren(legend.content);
    by("overrides").placeholder = Object.entries(page.start.settings).slice(0, 2).map((pair) => pair.join("=")).join(" ");
    by("wanted").replaceChildren(option("", "any"), ...page.start.properties.map((one) => option(one.name, `${one.name} ${one.about.split(":")[0]}`)));
    listen();
    if (location.hash.length > 1) await follow();
    else if (page.start.trace) await show(page.start.trace);
    else await go({ model: page.start.model, path: page.start.path });
  });

  begin();
})();
