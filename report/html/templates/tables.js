
// Sorts a table by a click, or Enter, on the head of a column: ascending, descending, then as the page was written.
// A long table has a field above it, and shows the rows that have all of its words.
(() => {
  const LONG = 8;
  const number = (text) => (/^-?[\d,]+(\.\d+)?$/.test(text) ? Number(text.replaceAll(",", "")) : NaN);
  const compare = (one, other) => {
    const [a, b] = [number(one), number(other)];
    return Number.isNaN(a) || Number.isNaN(b) ? one.localeCompare(other, "en", { numeric: true }) : a - b;
  };

  const sortable = (heads, body, rows) => {
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
        const wanted = next === undefined ? "ascending" : next;
        for (const one of heads) one.removeAttribute("aria-sort");
        if (wanted) head.setAttribute("aria-sort", wanted);
        const text = (row) => row.cells[column].textContent.trim();
        const sign = wanted === "descending" ? -1 : 1;
        body.append(...(wanted ? rows.toSorted((a, b) => sign * compare(text(a), text(b))) : rows));
      });
    });
  };

  const filtered = (table, rows, name) => {
    const label = document.createElement("label"), field = document.createElement("input");
    const count = document.createElement("span"), line = document.createElement("p");
    field.type = "search";
    label.append(`Filter ${name} `, field);
    count.setAttribute("role", "status");
    line.className = "filter small";
    line.append(label, " ", count);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      const left = rows.filter((row) => !row.hidden).length;
      count.textContent = words.length ? `${left} of ${rows.length} rows` : "";
    });
    table.closest(".scroll").before(line);
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0], rows = Array.from(body.rows);
    if (rows.length < 2) continue;
    sortable(Array.from(table.tHead.rows[0].cells), body, rows);
    if (rows.length >= LONG) filtered(table, rows, table.closest(".scroll").getAttribute("aria-label").split(":")[0].toLowerCase());
  }
})();
