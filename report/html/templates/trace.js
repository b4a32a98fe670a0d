"use strict";
// What the report, the explorer and the site have in common: a trace by its rows, a rule, and what is not enabled.
const trace = {
  make(tag, text, kind) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  },
  // Marks the row of a state in a sequence diagram, and scrolls the box around it, never the page.
  mark(list, number) {
    for (const row of list.querySelectorAll("[data-step]")) {
      const here = Number(row.dataset.step) === number;
      row.classList.toggle("here", here);
      if (here) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
      if (here && list.scrollHeight > list.clientHeight) {
        list.scrollTop = Math.max(0, row.offsetTop - list.offsetTop - list.clientHeight / 2);
      }
    }
  },
  // Calls `go` with the number of the row that is clicked; its own details and selections of text stay as they are.
  choose(list, go) {
    list.addEventListener("click", (event) => {
      const row = event.target.closest("[data-step]");
      if (!row || event.target.closest("details") || event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      go(Number(row.dataset.step));
    });
  },
  // Why the last step was possible, and the source of its rule.
  rule(box, because, place, code) {
    box.hidden = !because && !code;
    box.querySelector(".because").textContent = because ? `possible because ${because}` : "";
    box.querySelector("details").hidden = !code;
    box.querySelector(".place").textContent = place;
    box.querySelector(".code").textContent = code;
  },
  // A list with its number; each line is a text, or a text and a reason behind a tab.
  listed(box, lines, one, many) {
    box.hidden = !lines.length;
    box.querySelector("summary").textContent = `${lines.length} ${lines.length === 1 ? one : many}`;
    box.querySelector("ul").replaceChildren(...lines.map((line) => {
      const [text, why] = line.split("\t"), item = trace.make("li");
      item.append(trace.make("span", text, "mono"));
      if (why) item.append(trace.make("span", ` needs: ${why}`, "why"));
      return item;
    }));
  },
  enabled(box, lines) { trace.listed(box, lines, "action is enabled here", "actions are enabled here"); },
  refused(box, lines) { trace.listed(box, lines, "reason why an action is not enabled", "reasons why actions are not enabled"); },
};
