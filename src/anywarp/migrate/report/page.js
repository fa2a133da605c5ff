"use strict";
(() => {
  const PAGE = 100, ON_PAPER = 2000;
  const data = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  const words = new Map(data.answers), kindWords = new Map(data.kinds);
  const rank = new Map(data.answers.map(([answer], i) => [answer, i]));
  const efforts = ["none", "minutes", "hours", "days", "weeks"];
  const rows = data.rows;
  const answerOf = (r) => data.verdicts[r[4]][0];
  let shown = rows, at = 0, sort = "answer", up = false, haystacks = null;

  const option = (select, value, text) => {
    const o = document.createElement("option");
    o.value = value;
    o.textContent = text;
    select.append(o);
  };
  const tally = (keys) => {
    const count = new Map();
    for (const key of keys) count.set(key, (count.get(key) || 0) + 1);
    return count;
  };
  const fill = () => {
    const answers = tally(rows.map(answerOf)), kinds = tally(rows.map((r) => data.names[r[2]][0]));
    const deployments = tally(rows.flatMap((r) => data.reaches[r[5]]));
    for (const [a, w] of data.answers) if (answers.has(a)) option(by("f-answer"), a, `${w} (${answers.get(a).toLocaleString("en")})`);
    for (const [k, w] of data.kinds) if (kinds.has(k)) option(by("f-kind"), k, `${w} (${kinds.get(k).toLocaleString("en")})`);
    for (const name of [...deployments.keys()].sort()) option(by("f-deployment"), name, `${name} (${deployments.get(name).toLocaleString("en")})`);
    if (deployments.size) option(by("f-deployment"), "\u0000", "none");
  };

  const haystack = (i) => {
    haystacks ||= new Array(rows.length);
    if (haystacks[i] === undefined) {
      const r = rows[i], n = data.names[r[2]], v = data.verdicts[r[4]];
      haystacks[i] = `${n[1]} ${n[2]} ${data.texts[r[3]]} ${v[1]} ${v[2]} ${v[4]}`.toLowerCase();
    }
    return haystacks[i];
  };
  const compare = {
    answer: (a, b) => rank.get(answerOf(a)) - rank.get(answerOf(b)),
    path: (a, b) => (data.paths[a[0]] < data.paths[b[0]] ? -1 : data.paths[a[0]] > data.paths[b[0]] ? 1 : a[1] - b[1]),
    name: (a, b) => (data.names[a[2]][2] < data.names[b[2]][2] ? -1 : data.names[a[2]][2] > data.names[b[2]][2] ? 1 : 0),
    effort: (a, b) => efforts.indexOf(data.verdicts[a[4]][3]) - efforts.indexOf(data.verdicts[b[4]][3]),
  };

  const apply = () => {
    const answer = by("f-answer").value, kind = by("f-kind").value, deployment = by("f-deployment").value;
    const path = by("f-path").value.toLowerCase();
    const terms = by("f-text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const newOnly = by("f-new") && by("f-new").checked;
    const inPath = path && data.paths.map((p) => p.toLowerCase().includes(path));
    const inReach = deployment && data.reaches.map((d) => (deployment === "\u0000" ? !d.length : d.includes(deployment)));
    shown = rows.filter((r, i) =>
      (!answer || answerOf(r) === answer) && (!kind || data.names[r[2]][0] === kind) && (!inPath || inPath[r[0]]) &&
      (!inReach || inReach[r[5]]) && (!newOnly || r[7]) && terms.every((t) => haystack(i).includes(t)));
    const turn = up ? 1 : -1;
    shown.sort((a, b) => turn * compare[sort](a, b) || compare.path(a, b));
    at = 0;
    show();
  };

  const cell = (tr, ...parts) => {
    const td = document.createElement("td");
    td.append(...parts);
    tr.append(td);
    return td;
  };
  const span = (name, text, tag = "span") => {
    const e = document.createElement(tag);
    e.className = name;
    e.textContent = text;
    return e;
  };
  const ticks = (text) => text.split("`").map((part, i) => (i % 2 ? span("", part, "code") : part));
  const line = (r) => {
    const tr = document.createElement("tr"), v = data.verdicts[r[4]], n = data.names[r[2]];
    cell(tr, span(`badge a-${v[0]}`, words.get(v[0])));
    const place = cell(tr, span("path", data.paths[r[0]] + (r[1] ? `:${r[1]}` : "")));
    if (r[6] > 1) place.append(document.createElement("br"), span("small", `${r[6].toLocaleString("en")} places`));
    const what = cell(tr, span("", n[2], "code"), document.createTextNode(" "), span("small", kindWords.get(n[0])));
    if (data.texts[r[3]] && data.texts[r[3]] !== n[2]) what.append(span("line", data.texts[r[3]]));
    const why = cell(tr);
    if (v[2]) why.append(span("to", `→ ${v[2]}`), document.createElement("br"));
    why.append(...ticks(v[1]));
    if (v[4]) {
      const help = span("small", "Do: ");
      help.append(...ticks(v[4]));
      why.append(document.createElement("br"), help);
    }
    cell(tr, v[3]);
    cell(tr, data.reaches[r[5]].join(", "));
    return tr;
  };
  const draw = (from, count) => {
    const body = document.createDocumentFragment();
    for (const r of shown.slice(from, from + count)) body.append(line(r));
    by("rows").replaceChildren(body);
  };
  const show = () => {
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    at = Math.min(Math.max(at, 0), pages - 1);
    draw(at * PAGE, PAGE);
    by("status").textContent = `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} findings`;
    by("at").textContent = `page ${(at + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
    by("first").disabled = by("back").disabled = at === 0;
    by("on").disabled = by("last").disabled = at === pages - 1;
    for (const button of document.querySelectorAll("[data-sort]")) {
      const th = button.parentElement;
      if (button.dataset.sort === sort) th.setAttribute("aria-sort", up ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    }
  };
  const turn = (to) => {
    at = to;
    show();
    by("findings").scrollIntoView();
  };

  let waiting = 0;
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 150);
  };
  for (const id of ["f-answer", "f-kind", "f-deployment", "f-new"]) if (by(id)) by(id).addEventListener("change", apply);
  for (const id of ["f-path", "f-text"]) by(id).addEventListener("input", soon);
  by("filters").addEventListener("submit", (e) => e.preventDefault());
  by("filters").addEventListener("reset", () => setTimeout(apply));
  by("first").addEventListener("click", () => turn(0));
  by("back").addEventListener("click", () => turn(at - 1));
  by("on").addEventListener("click", () => turn(at + 1));
  by("last").addEventListener("click", () => turn(Infinity));
  for (const button of document.querySelectorAll("[data-sort]"))
    button.addEventListener("click", () => {
      if (sort === button.dataset.sort) up = !up;
      else [sort, up] = [button.dataset.sort, button.dataset.sort === "path" || button.dataset.sort === "name"];
      apply();
    });
  by("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  addEventListener("beforeprint", () => {
    draw(0, ON_PAPER);
    if (shown.length > ON_PAPER) by("status").textContent = `The first ${ON_PAPER.toLocaleString("en")} of ${shown.length.toLocaleString("en")} findings`;
  });
  addEventListener("afterprint", show);
  fill();
  apply();
})();
