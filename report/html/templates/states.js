// Selects a state of a state graph. Without it, hovering over a state and the list show the same information.
(() => {
  const all = (parent, selector) => Array.from(parent.querySelectorAll(selector));

  for (const atlas of document.querySelectorAll(".atlas")) {
    const states = all(atlas, ".state");
    const lines = all(atlas, ".line");
    const chosen = atlas.querySelector(".chosen");
    const rows = [];
    states.forEach((state, number) => (rows[Number(state.dataset.depth)] ||= []).push(number));
    const across = (number) => states[number].getBoundingClientRect().left;
    for (const row of rows) row.sort((a, b) => across(a) - across(b));
    let shown = 0;

    const show = (number) => {
      address.write(atlas.dataset.key, number);
      states[shown].setAttribute("tabindex", "-1");
      shown = number;
      const near = new Set(states[number].dataset.near.split(" ").map(Number));
      states.forEach((state, other) => {
        state.classList.toggle("here", other === number);
        state.classList.toggle("apart", other !== number && !near.has(other));
      });
      for (const line of lines) {
        const joins = [line.dataset.from, line.dataset.to].includes(String(number));
        line.classList.toggle("apart", !joins);
      }
      states[number].setAttribute("tabindex", "0");
      chosen.textContent = states[number].querySelector("title").textContent;
      chosen.hidden = false;
    };

    const clear = () => {
      for (const part of [...states, ...lines]) part.classList.remove("apart", "here");
      chosen.hidden = true;
    };

    const beside = (by) => {
      const row = rows[Number(states[shown].dataset.depth)];
      return row[Math.min(Math.max(row.indexOf(shown) + by, 0), row.length - 1)];
    };
    // The nearest state in the next row that a step connects to this one, else the nearest.
    const below = (by) => {
      const row = rows[Number(states[shown].dataset.depth) + by];
      if (!row) return shown;
      const near = states[shown].dataset.near.split(" ").map(Number);
      const joined = row.filter((number) => near.includes(number));
      const from = across(shown);
      const far = (number) => Math.abs(across(number) - from);
      return (joined.length ? joined : row).reduce((a, b) => (far(b) < far(a) ? b : a));
    };
    const keys = {
      ArrowLeft: () => beside(-1),
      ArrowRight: () => beside(1),
      ArrowUp: () => below(-1),
      ArrowDown: () => below(1),
      Home: () => 0,
      End: () => states.length - 1,
    };

    states.forEach((state, number) => {
      state.setAttribute("tabindex", number ? "-1" : "0");
      state.addEventListener("focus", () => show(number));
      state.addEventListener("click", () => state.focus());
      state.addEventListener("keydown", (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
        if (event.key === "Escape") clear();
        if (!keys[event.key]) return;
        event.preventDefault();
        states[keys[event.key]()].focus();
      });
    });
    // Scroll a wide graph to its middle, where the initial state is.
    const box = states[0].closest(".scroll");
    const middle = states[0].getBoundingClientRect().left - box.getBoundingClientRect().left;
    box.scrollLeft += middle - box.clientWidth / 2;
    for (const hint of all(atlas, ".keys")) hint.hidden = false;
    // On a narrow page a graph that fits cannot be read, so it keeps its size and scrolls.
    const fit = atlas.querySelector("[data-fit]");
    const fold = () => atlas.classList.toggle("fits", fit.checked);
    fit.checked = box.clientWidth >= 600;
    fit.addEventListener("change", fold);
    fold();
    const follow = () => {
      const { key, number } = address.read();
      if (key !== atlas.dataset.key || number === null || number >= states.length) return;
      address.reveal(atlas);
      show(number);
      states[number].focus({ preventScroll: true });
    };
    follow();
    window.addEventListener("hashchange", follow);
  }
})();
