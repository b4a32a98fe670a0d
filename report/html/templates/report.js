
// Steps through the counterexamples of this page. Without it the page shows the last state and lists all steps.
// The address names what is shown, `#c1-P-1/4` for state 4, so that a link opens there; `#step=4` is that of the first.
const address = {
  // The key and the number after `#`; the number is null where the address has none.
  read() {
    const step = /^#step=(\d+)$/.exec(location.hash), first = document.querySelector("article.trace > h3");
    if (step && first) return { key: first.id, number: Number(step[1]) };
    const [, key, number] = /^#?([^/]*)(?:\/(\d+))?$/.exec(decodeURI(location.hash)) || [];
    return { key: key || "", number: number === undefined ? null : Number(number) };
  },
  write(key, number) {
    if (location.protocol === "about:") return; // the frame of a notebook has no address
    history.replaceState(null, "", `#${key}/${number}`);
  },
  // Opens everything folded around an element, and scrolls there.
  reveal(element) {
    for (let part = element; part; part = part.parentElement) if (part.localName === "details") part.open = true;
    element.scrollIntoView({ behavior: "instant" });
  },
};
(() => {
  const at = (parent, selector) => parent.querySelector(selector);
  const all = (parent, selector) => Array.from(parent.querySelectorAll(selector));

  const valuesAfter = (data, number) => {
    const values = new Map(Object.entries(data.initial));
    for (const step of data.steps.slice(0, number)) {
      for (const [path, , made] of step.changes) values.set(path, made);
    }
    return values;
  };

  const setUp = (article) => {
    const stepper = at(article, ".stepper");
    const data = JSON.parse(at(article, "script[type='application/json']").textContent);
    const last = data.steps.length;
    const leaves = all(article, "[data-leaf]");
    const heading = at(article, "h3");
    const rows = at(article, ".sequence"), scrub = at(stepper, "input[type='range']");
    let shown = last;

    const show = (wanted) => {
      const number = Math.min(Math.max(wanted, 0), last);
      shown = number;
      const step = number ? data.steps[number - 1] : null;
      const before = new Map(step ? step.changes.map(([path, old]) => [path, old]) : []);
      const values = valuesAfter(data, number);
      for (const leaf of leaves) {
        const path = leaf.dataset.leaf;
        const changed = before.has(path);
        at(leaf, ".value").textContent = values.get(path);
        at(leaf, ".was").textContent = changed ? `was ${before.get(path)}` : "";
        leaf.classList.toggle("changed", changed);
      }
      at(article, ".number-of-state").textContent = String(number);
      at(stepper, ".now").textContent = step
        ? `State ${number} of ${last}, after ${step.label}`
        : `State 0 of ${last}, the first`;
      at(stepper, ".judged").textContent = judged(number);
      scrub.value = String(number);
      scrub.setAttribute("aria-valuetext", at(stepper, ".now").textContent);
      trace.mark(rows, number);
      if (data.scenes.length) drawn(number, step);
      for (const place of all(article, "[data-state]")) {
        place.classList.toggle("here", Number(place.dataset.state) === number);
      }
      for (const button of all(stepper, "button")) {
        const back = button.dataset.go === "first" || button.dataset.go === "back";
        button.setAttribute("aria-disabled", String(back ? number === 0 : number === last));
      }
    };

    // The picture is made of lines that were escaped when the page was written; the policy allows no script in it.
    const drawn = (number, step) => {
      const scene = data.scenes[number], lines = (numbers) => numbers.map((one) => data.lines[one]);
      const box = at(article, ".picture"), open = document.createElement("template");
      open.innerHTML = lines(scene.picture).join("\n");
      const left = box.querySelector(".scroll") ? box.querySelector(".scroll").scrollLeft : 0;
      box.replaceChildren(open.content);
      if (left) box.querySelector(".scroll").scrollLeft = left;
      trace.rule(at(article, ".rule"), step ? step.because : "", step ? step.source : "", step ? data.rules[step.action] : "");
      trace.enabled(at(article, ".enabled"), lines(scene.enabled));
      trace.refused(at(article, ".refused"), lines(scene.refused));
    };

    const judged = (number) => {
      if (!data.judged) return "";
      const hit = data.truths.filter(([, , , hits]) => hits.includes(number));
      const named = (kind) =>
        hit.filter((one) => one[2] === kind).map(([id, name]) => `${id} ${name}`).join(", ");
      const broken = named("always");
      const reached = named("sometimes");
      return (broken ? `✗ False here: ${broken}.` : "✓ Every safety property is true here.")
        + (reached ? ` Witnesses reached: ${reached}.` : "");
    };

    const move = (wanted) => {
      show(wanted);
      address.write(heading.id, shown);
    };
    const go = {
      first: () => move(0),
      back: () => move(shown - 1),
      next: () => move(shown + 1),
      last: () => move(last),
    };
    const keys = { ArrowLeft: go.back, ArrowRight: go.next, Home: go.first, End: go.last };
    stepper.addEventListener("keydown", (event) => {
      const press = keys[event.key];
      if (!press || event.target === scrub || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      press();
    });
    for (const button of all(stepper, "button")) button.addEventListener("click", go[button.dataset.go]);
    scrub.addEventListener("input", () => move(Number(scrub.value)));
    trace.choose(rows, move);
    const more = at(article, "[data-all]");
    const fold = () => article.classList.toggle("less", !more.checked);
    more.addEventListener("change", fold);
    fold();
    stepper.hidden = false;
    const follow = () => {
      const { key, number } = address.read();
      if (key !== heading.id) return;
      if (number !== null) show(number);
      address.reveal(heading);
    };
    show(last);
    follow();
    window.addEventListener("hashchange", follow);
  };

  for (const article of all(document, "article.trace")) {
    if (at(article, ".stepper")) setUp(article);
  }
  const follow = () => {
    const { key, number } = address.read();
    const place = key && number === null && document.getElementById(key);
    if (place) address.reveal(place);
  };
  follow();
  window.addEventListener("hashchange", follow);
  // Nothing can be expanded on a printed page.
  window.addEventListener("beforeprint", () => {
    for (const part of all(document, "details")) part.open = true;
  });
})();
