"use strict";
// The controls of a page to explore. The data is the JSON of #explore-data, made by maxmargin.report.explore;
// numbers are those of the library, and what is computed here are counts, their ratios, sums of costs, orders
// and places on a drawing. Text enters the page as text only: elements are constructed, never parsed.
(() => {
  const home = document.getElementById("explore");
  const source = document.getElementById("explore-data");
  if (!home || !source) return;
  const data = JSON.parse(source.textContent);
  const ROWS_PER_PAGE = 15,
    COLUMNS_AT_FIRST = 12,
    STYLES = ["one", "two", "three", "four", "five", "six"];

  // ---- elements ----

  const make = (node, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, value);
    node.append(...children.flat(3).filter((child) => child !== null));
    return node;
  };
  const el = (tag, attributes = {}, ...children) => make(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    make(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  const datum = (text, longest = 32) => {
    const letters = [...String(text)];
    if (letters.length <= longest) return el("bdi", { class: "datum" }, String(text));
    return el("bdi", { class: "datum", title: text }, letters.slice(0, longest - 1).join("") + "…");
  };
  const short = (text, longest = 16) => {
    const letters = [...String(text)];
    return letters.length <= longest ? String(text) : letters.slice(0, longest - 1).join("") + "…";
  };
  const box = (label, ...children) =>
    el("div", { class: "box", tabindex: 0, role: "region", "aria-label": label }, ...children);
  const note = (text) => el("p", { class: "note" }, text);

  // ---- numbers as people read them, as on the rest of the page ----

  const minus = (text) => text.replaceAll("-", "−");
  const grouped = (text) => text.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
  const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
  const number = (value, digits = 4) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e15) return minus(grouped(value.toFixed(0)));
    if (size >= 1e-3 && size < 1e6) {
      const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
      const text = grouped(Number(value.toPrecision(digits)).toFixed(Math.min(decimals, 20)));
      return minus(text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text);
    }
    const [mantissa, exponent] = value.toExponential(Math.min(digits, 3) - 1).split("e");
    const raised = "10" + [...String(Number(exponent))].map((sign) => RAISED[sign]).join("");
    return /^[10.]*$/.test(mantissa) && Number(mantissa) === 1 ? raised : minus(`${mantissa} × ${raised}`);
  };
  // Exact ties go to the even digit, as in the text of the report; toFixed rounds them up.
  const rounded = (value, decimals) => {
    const scaled = value * 10 ** decimals;
    const tie = scaled % 1 === 0.5 && Number.isInteger(value * 2 ** (decimals + 1));
    return (tie && Math.floor(scaled) % 2 === 0 ? Math.floor(scaled) / 10 ** decimals : value).toFixed(decimals);
  };
  const percent = (share, decimals = 1) => {
    if (share === null || share === undefined || !Number.isFinite(share)) return "–";
    const text = rounded(100 * share, decimals);
    if (share > 0 && share < 1 && (Number(text) === 0 || Number(text) === 100) && decimals < 4)
      return percent(share, decimals + 1);
    return minus(text) + "\u00a0%";
  };
  const points = (value) => (value === null ? "–" : minus((100 * value).toFixed(1)));
  const bytes = (n) =>
    n === null ? "–" : n < 1e3 ? `${n} B` : n < 1e6 ? `${number(n / 1e3, 3)} kB` : `${number(n / 1e6, 3)} MB`;
  // By loops: a browser takes only so many arguments (Chromium about 125,000), so none of a file's are spread.
  const least = (values) => values.reduce((a, b) => (b < a ? b : a), Infinity),
    largest = (values) => values.reduce((a, b) => (b > a ? b : a), -Infinity);
  const plural = (n, one) => `${number(n)} ${n === 1 ? one : one + "s"}`;

  // ---- pieces ----

  // A list of names and values; show({name: [text, value]}) changes them.
  const facts = (names) => {
    const cells = {};
    const items = Object.entries(names).map(([name, words]) => {
      cells[name] = el("dd", { "data-name": name });
      return [el("dt", {}, words), cells[name]];
    });
    const element = el("dl", { class: "live" }, ...items);
    const show = (values) => {
      for (const [name, [text, value]] of Object.entries(values)) {
        cells[name].textContent = text;
        cells[name].dataset.value = value;
      }
    };
    return { element, show };
  };

  const field = (id, words, control) => el("label", { for: id, class: "field" }, el("span", {}, words), control);
  const numberField = (id, words, attributes = {}) => {
    const control = el("input", { type: "number", id, step: "any", inputmode: "decimal", ...attributes });
    return { control, element: field(id, words, control) };
  };
  const slider = (id, words, n, start, change) => {
    const control = el("input", { type: "range", id, min: 0, max: n - 1, step: 1, value: start });
    control.value = start;
    const shown = el("output", { for: id });
    const element = el("div", { class: "slider" }, el("label", { for: id }, words), control, shown);
    const moved = () => {
      const text = change(Number(control.value));
      shown.textContent = text;
      control.setAttribute("aria-valuetext", text);
    };
    control.addEventListener("input", moved);
    return {
      control,
      element,
      moved,
      move: (k) => {
        control.value = k;
        moved();
      },
    };
  };

  // Round values inside [low, high].
  const ticks = (low, high, most = 6) => {
    const rough = (high - low) / most || 1,
      unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((m) => unit * m).find((each) => each >= rough * (1 - 1e-9));
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k <= Math.floor(high / step + 1e-9); k++)
      found.push(Number((k * step).toPrecision(12)));
    return found;
  };

  const WIDTH = 400,
    HEIGHT = 250,
    LEFT = 52,
    RIGHT = 22,
    TOP = 24,
    BOTTOM = 40;
  // Lines on two axes; mark(x, y) puts the chosen point on them.
  const lineChart = ({ title, lines, across, up }) => {
    const range = (values, axis) => {
      const there = values.filter((v) => v !== null && Number.isFinite(v) && (!axis.log || v > 0));
      let low = axis.from ?? least(there),
        high = axis.to ?? largest(there);
      if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
      if (axis.from === undefined && !axis.log)
        [low, high] = [low - 0.04 * (high - low), high + 0.04 * (high - low)];
      return axis.log ? [Math.log10(low), Math.log10(high)] : [low, high];
    };
    const scale =
      ([low, high], from, to, log) =>
      (v) =>
        Number(
          (
            from +
            ((Math.min(Math.max(log ? Math.log10(v) : v, low), high) - low) / (high - low || 1)) * (to - from)
          ).toFixed(2),
        );
    // Shares have as many decimals as the finest of them needs.
    const names = (axis, values) => {
      if (!axis.share) return values.map((v) => number(v));
      const fine = (d) => values.every((v) => Math.abs(100 * v - Number((100 * v).toFixed(d))) < 1e-6),
        decimals = [0, 1, 2].find(fine) ?? 3;
      return values.map((v) => minus((100 * v).toFixed(decimals)) + "\u00a0%");
    };
    const rangeX = range(
        lines.flatMap((line) => line.x),
        across,
      ),
      rangeY = range(
        lines.flatMap((line) => line.y),
        up,
      );
    const marksY = ticks(...rangeY),
      namesY = names(up, marksY),
      left = Math.max(LEFT, 10 + 7.4 * largest(namesY.map((each) => each.length)));
    const x = scale(rangeX, left, WIDTH - RIGHT, across.log),
      y = scale(rangeY, HEIGHT - BOTTOM, TOP, false);
    const marksX = across.log
      ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 1e4, 1e5].filter(
          (v) => Math.log10(v) >= rangeX[0] - 1e-9 && Math.log10(v) <= rangeX[1] + 1e-9,
        )
      : ticks(...rangeX);
    const few = marksX.filter((_, k) => k % Math.ceil(marksX.length / 6) === 0),
      namesX = names(across, few);
    const grid = marksY.flatMap((v, k) => [
      svg("line", { x1: left, x2: WIDTH - RIGHT, y1: y(v), y2: y(v), class: "grid" }),
      svg("text", { x: left - 6, y: y(v) + 4, "text-anchor": "end", class: "tick" }, namesY[k]),
    ]);
    const below = few.flatMap((v, k) => [
      svg("line", { x1: x(v), x2: x(v), y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 4, class: "axis" }),
      svg("text", { x: x(v), y: HEIGHT - BOTTOM + 17, "text-anchor": "middle", class: "tick" }, namesX[k]),
    ]);
    const drawn = lines.map((line, k) => {
      const places = line.x
        .map((v, i) => [v, line.y[i]])
        .filter(([a, b]) => b !== null && Number.isFinite(b) && (!across.log || a > 0));
      const style = line.faint ? "faint" : STYLES[(line.style ?? k) % 6];
      return svg("polyline", {
        class: `line ${style}`,
        points: places.map(([a, b]) => `${x(a)},${y(b)}`).join(" "),
      });
    });
    const dot = svg("circle", { r: 6, class: "chosen-dot", visibility: "hidden" });
    const element = svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": title },
      ...grid,
      ...below,
      svg("line", { x1: left, x2: WIDTH - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM, class: "axis" }),
      svg("text", { x: 2, y: 13, class: "axis-name" }, up.label),
      svg(
        "text",
        { x: WIDTH - RIGHT, y: HEIGHT - 6, "text-anchor": "end", class: "axis-name" },
        short(across.label, 44),
      ),
      ...drawn,
      dot,
    );
    const mark = (a, b) => {
      const there = a !== null && b !== null && Number.isFinite(a) && Number.isFinite(b);
      dot.setAttribute("visibility", there ? "visible" : "hidden");
      if (there) {
        dot.setAttribute("cx", x(a));
        dot.setAttribute("cy", y(b));
        dot.dataset.x = a;
        dot.dataset.y = b;
      }
    };
    return { element, mark };
  };
  const figure = (drawing, title, ...words) =>
    el("figure", {}, drawing, el("figcaption", {}, el("b", {}, title), ...words));

  const figures = (...parts) => el("div", { class: "figures" }, ...parts);
  // Figures side by side; a large matrix has the whole width.
  const beside = (n, first, matrix) => (n > 8 ? [figures(first), matrix] : [figures(first, matrix)]);

  // Counts by true class (down) and predicted class (across); show(counts) changes them.
  const heatMap = (title, names) => {
    const n = names.length,
      cell = n <= 3 ? 76 : n <= 8 ? 42 : n <= 14 ? 30 : 24;
    const labels = names.map((name) => short(name, 14)),
      longest = largest(labels.map((l) => [...l].reduce((w, c) => w + (c > "\u2e80" ? 13 : 7.6), 0)));
    const turned = longest > cell - 4,
      left = 34 + longest,
      top = 26 + (turned ? 0.72 * longest : 12);
    const cells = [],
      parts = [];
    labels.forEach((label, i) => {
      const at = top + cell * i,
        middle = left + cell * (i + 0.5);
      parts.push(svg("text", { x: left - 6, y: at + cell / 2 + 4, "text-anchor": "end" }, label));
      parts.push(
        svg(
          "text",
          {
            x: middle,
            y: top - 6,
            "text-anchor": turned ? "start" : "middle",
            transform: turned ? `rotate(-45 ${middle} ${top - 6})` : null,
          },
          label,
        ),
      );
      names.forEach((_, j) => {
        const place = { x: left + cell * j, y: at, width: cell - 1, height: cell - 1, rx: 2 };
        const said = svg("title"),
          shade = svg("rect", { ...place, class: `cell ${i === j ? "right" : "wrong"}` }, said);
        const text = svg("text", {
          x: left + cell * (j + 0.5),
          y: at + cell / 2 + 4,
          "text-anchor": "middle",
          class: "count",
        });
        cells.push({ shade, text, said });
        parts.push(svg("rect", { ...place, class: "cell-edge" }), shade, text);
      });
    });
    const wide = Math.ceil(left + cell * n + 8 + (turned ? 0.6 * longest : 0)),
      high = Math.ceil(top + cell * n + 6);
    const element = svg(
      "svg",
      { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "img", "aria-label": title },
      svg(
        "text",
        { x: left + (cell * n) / 2, y: 13, "text-anchor": "middle", class: "axis-name" },
        "predicted class",
      ),
      svg(
        "text",
        {
          x: 12,
          y: top + (cell * n) / 2,
          "text-anchor": "middle",
          class: "axis-name",
          transform: `rotate(-90 12 ${top + (cell * n) / 2})`,
        },
        "true class",
      ),
      ...parts,
    );
    const show = (counts) => {
      for (let i = 0; i < n; i++) {
        const row = counts.slice(i * n, (i + 1) * n),
          total = row.reduce((a, b) => a + b, 0);
        row.forEach((count, j) => {
          const { shade, text, said } = cells[i * n + j],
            share = total ? count / total : 0,
            ink = i === j ? share : Math.sqrt(share);
          const label = number(count),
            room = label.length * (cell < 30 ? 5.5 : 7) <= cell;
          shade.setAttribute("fill-opacity", ink.toFixed(3));
          shade.dataset.count = count;
          said.textContent = `${names[i]} predicted as ${names[j]}: ${label} (${percent(share)})`;
          text.textContent = count && room ? label : "";
          text.setAttribute(
            "class",
            `count${ink > (i === j ? 0.7 : 0.75) ? " strong" : ""}${cell < 30 ? " small" : ""}`,
          );
        });
      }
    };
    return { element: box(title, element), show };
  };

  // A table of many rows, some at a time: headers sort, a row is chosen by a click, Enter or the space bar.
  const sheet = ({ id, caption, columns, pick, perPage = ROWS_PER_PAGE }) => {
    let rows = [],
      page = 0,
      by = null,
      down = false,
      chosen = null;
    const heads = columns.map((column, k) => {
      const button = el("button", { type: "button", class: "sort", "data-column": k }, datum(column.name, 24));
      button.addEventListener("click", () => {
        [by, down] = by === k ? [k, !down] : [k, column.down ?? false];
        page = 0;
        show(rows);
      });
      return el("th", { scope: "col", class: column.right ? "n" : null }, button);
    });
    const body = el("tbody"),
      shown = el("span", { role: "status" });
    const back = el("button", { type: "button", "data-step": "back" }, "Previous"),
      on = el("button", { type: "button", "data-step": "on" }, "Next");
    back.addEventListener("click", () => {
      page--;
      draw();
    });
    on.addEventListener("click", () => {
      page++;
      draw();
    });
    const table = el("table", { id }, el("caption", {}, caption), el("thead", {}, el("tr", {}, ...heads)), body);
    const element = el("div", {}, box(caption, table), el("p", { class: "pager" }, back, on, shown));
    const choose = (i) => {
      chosen = i;
      for (const line of body.children) line.setAttribute("aria-selected", String(Number(line.dataset.row) === i));
      pick(i);
    };
    const draw = () => {
      const first = page * perPage,
        some = rows.slice(first, first + perPage);
      body.replaceChildren(
        ...some.map((i) => {
          const cells = columns.map((column, k) =>
            el(k ? "td" : "th", { class: column.right ? "n" : null, scope: k ? null : "row" }, column.show(i)),
          );
          return el("tr", { tabindex: 0, "data-row": i, "aria-selected": i === chosen }, ...cells);
        }),
      );
      back.disabled = page === 0;
      on.disabled = first + perPage >= rows.length;
      shown.textContent = rows.length
        ? `${number(first + 1)} to ${number(first + some.length)} of ${number(rows.length)}`
        : "nothing to show";
    };
    const show = (which) => {
      rows = [...which];
      if (by !== null) {
        const value = columns[by].value,
          sign = down ? -1 : 1;
        rows.sort((a, b) => {
          const [u, v] = [value(a), value(b)];
          if (u === null || v === null) return u === v ? a - b : u === null ? 1 : -1;
          const order = typeof u === "number" ? u - v : u < v ? -1 : u > v ? 1 : 0;
          return sign * order || a - b;
        });
      }
      heads.forEach((head, k) =>
        k === by
          ? head.setAttribute("aria-sort", down ? "descending" : "ascending")
          : head.removeAttribute("aria-sort"),
      );
      page = Math.min(page, Math.max(0, Math.ceil(rows.length / perPage) - 1));
      draw();
    };
    const lineOf = (target) => (target instanceof Element ? target.closest("tr[data-row]") : null);
    body.addEventListener("click", (event) => {
      const line = lineOf(event.target);
      if (line) choose(Number(line.dataset.row));
    });
    body.addEventListener("keydown", (event) => {
      const line = lineOf(event.target);
      if (!line) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose(Number(line.dataset.row));
      }
      const next =
        event.key === "ArrowDown"
          ? line.nextElementSibling
          : event.key === "ArrowUp"
            ? line.previousElementSibling
            : null;
      if (next) {
        event.preventDefault();
        next.focus();
      }
    });
    return {
      element,
      show: (which) => {
        page = 0;
        show(which);
      },
      choose,
    };
  };

  const panel = (id, title, ...children) => el("div", { id, class: "panel" }, el("h3", {}, title), ...children);
  const leftOut = (name, title) =>
    data.left_out[name]
      ? el("p", { class: "note", "data-left-out": name }, el("b", {}, `${title}: `), data.left_out[name])
      : null;

  // ---- the budget ----

  const budgetPanel = () => {
    const path = data.path;
    if (!path) return leftOut("path", "Budget");
    const last = path.budgets.length - 1,
      accuracy = path.right.map((right) => right / path.n_rows);
    const chart = lineChart({
      title: "Accuracy against support vectors",
      lines: [{ x: path.budgets, y: accuracy }],
      across: { label: "support vectors (logarithmic)", log: true },
      up: { label: "accuracy on these rows", share: true },
    });
    const names = path.classes.map((k) => data.classes[k]),
      counts = heatMap("Confusion matrix at this budget", names);
    const list = facts({
      budget: "support vectors",
      accuracy: "accuracy",
      balanced: "balanced accuracy",
      size: "model file, about",
      work: "work for a row",
    });
    const moved = (k) => {
      const share = path.work[k] / path.work[last];
      const [low, high] = path.intervals[k];
      list.show({
        budget: [number(path.budgets[k]), path.budgets[k]],
        accuracy: [`${percent(accuracy[k])} (${percent(low)} to ${percent(high)})`, accuracy[k]],
        balanced: [percent(path.balanced[k]), path.balanced[k]],
        size: [bytes(path.bytes[k]), path.bytes[k]],
        work: [
          `${number(path.work[k])} multiplications${share < 1 ? `, ${percent(share)} of the whole model's: ${number(1 / share, 2)} times as fast by this count` : ""}`,
          path.work[k],
        ],
      });
      chart.mark(path.budgets[k], accuracy[k]);
      counts.show(path.counts[k]);
      return plural(path.budgets[k], "support vector");
    };
    const control = slider("explore-budget", "Support vectors", path.budgets.length, last, moved);
    control.moved();
    const rule = data.decided
      ? " Classes are those of the largest scores: the decision by costs that is stored with the model is left aside."
      : "";
    const some =
      names.length < data.classes.length
        ? ` The ${names.length} of ${number(data.classes.length)} classes with most mistakes are shown.`
        : "";
    return panel(
      "explore-path",
      "Budget",
      el(
        "p",
        {},
        `How good would a smaller model be? The first support vectors of this one, with their own coefficients, on all ${number(path.n_rows)} rows of this file.${rule}`,
      ),
      control.element,
      list.element,
      ...beside(
        names.length,
        figure(chart.element, "Accuracy", "The dot is the budget of the slider."),
        figure(counts.element, "Confusion matrix", `Rows: true class; columns: predicted class.${some}`),
      ),
    );
  };

  // ---- the threshold ----

  const thresholdPanel = () => {
    const t = data.threshold;
    if (!t) return leftOut("threshold", "Threshold");
    // Beyond the largest threshold no row is called positive.
    const thresholds = [...t.thresholds, Infinity],
      hits = [...t.hits, 0],
      alarms = [...t.alarms, 0];
    const recall = hits.map((h) => h / t.n_positive),
      rate = alarms.map((a) => a / t.n_negative);
    const precision = hits.map((h, k) => (h + alarms[k] ? h / (h + alarms[k]) : null));
    const other = data.classes[0] === t.positive ? data.classes[1] : data.classes[0];
    const roc = lineChart({
      title: "ROC curve",
      lines: [
        { x: rate, y: recall },
        { x: [0, 1], y: [0, 1], faint: true },
      ],
      across: { label: "false positive rate", share: true, from: 0, to: 1 },
      up: { label: "recall", share: true, from: 0, to: 1 },
    });
    const curve = lineChart({
      title: "Precision and recall",
      lines: [{ x: recall, y: precision }],
      across: { label: "recall", share: true, from: 0, to: 1 },
      up: { label: "precision", share: true, from: 0, to: 1 },
    });
    const counts = heatMap("Confusion matrix at this threshold", [other, t.positive]);
    const list = facts({
      threshold: `threshold of the ${t.on}`,
      accuracy: "accuracy",
      recall: "recall",
      precision: "precision",
      rate: "false positive rate",
      called: "rows called positive",
      cost: "cost per 1,000 rows",
    });
    const n = t.n_positive + t.n_negative;
    const alarm = numberField("explore-cost-alarm", "cost of a false positive", { min: 0, value: t.costs[0] }),
      miss = numberField("explore-cost-miss", "cost of a false negative", { min: 0, value: t.costs[1] });
    const price = (field) => Math.max(0, Number(field.control.value) || 0);
    const cost = (k) => (1000 * (price(alarm) * alarms[k] + price(miss) * (t.n_positive - hits[k]))) / n;
    const moved = (k) => {
      const right = hits[k] + t.n_negative - alarms[k];
      const text = thresholds[k] === Infinity ? "above all rows" : number(thresholds[k], 6);
      list.show({
        threshold: [text, thresholds[k]],
        accuracy: [percent(right / n), right / n],
        recall: [percent(recall[k]), recall[k]],
        precision: [percent(precision[k]), precision[k]],
        rate: [percent(rate[k]), rate[k]],
        called: [number(hits[k] + alarms[k]), hits[k] + alarms[k]],
        cost: [number(cost(k)), cost(k)],
      });
      counts.show([t.n_negative - alarms[k], alarms[k], t.n_positive - hits[k], hits[k]]);
      roc.mark(rate[k], recall[k]);
      curve.mark(recall[k], precision[k]);
      return text;
    };
    const place = (value) => thresholds.findIndex((each) => each >= value);
    const middle = t.on === "probability" ? 0.5 : 0,
      start = place(t.chosen ?? middle);
    const control = slider("explore-threshold", `Threshold of the ${t.on}`, thresholds.length, start, moved);
    const button = (id, words, target) => {
      const made = el("button", { type: "button", id }, words);
      made.addEventListener("click", () => control.move(target()));
      return made;
    };
    const lowest = () => {
      let best = 0;
      for (let k = 1; k < thresholds.length; k++) if (cost(k) < cost(best)) best = k;
      return best;
    };
    for (const each of [alarm, miss]) each.control.addEventListener("input", control.moved);
    control.moved();
    const sampled =
      n < t.n_all ? ` Counts are of ${number(n)} of the ${number(t.n_all)} rows, a random sample.` : "";
    const plain = data.decided
      ? ""
      : ` The class of the larger score, which is what the model predicts by itself, is right for ${percent(t.accuracy)} of the rows.`;
    return panel(
      "explore-thresholds",
      "Threshold and costs",
      el(
        "p",
        {},
        "A row is called ",
        datum(t.positive),
        ` if its ${t.on} is at least the threshold. Counts are exact at each of ${number(thresholds.length)} thresholds, on the rows of this file.${sampled}${plain} What is best on these rows is a little better than it will be on new ones.`,
      ),
      control.element,
      el(
        "div",
        { class: "controls" },
        alarm.element,
        miss.element,
        button("explore-lowest", "Lowest cost", lowest),
        button("explore-middle", t.on === "probability" ? "0.5" : "Score 0", () => place(middle)),
        t.chosen === null ? null : button("explore-stored", "Chosen by costs", () => place(t.chosen)),
      ),
      figures(
        list.element,
        figure(counts.element, "Confusion matrix", "Rows: true class; columns: predicted class."),
      ),
      figures(
        figure(roc.element, "ROC curve", "The dot is the threshold of the slider; the grey diagonal is guessing."),
        figure(curve.element, "Precision and recall", "The dot is the threshold of the slider."),
      ),
    );
  };

  // ---- rows ----

  const value = (column, code) =>
    code === null || code === undefined ? null : column.kind === "words" ? column.words[code] : code;
  const shown = (column, code) => {
    const found = value(column, code);
    if (found === null) return el("span", { class: "soft" }, "(missing)");
    return column.kind === "words" ? datum(found, 28) : number(found, 6);
  };
  const className = (k) => (k < 0 ? "(not a class)" : data.classes[k]);
  // Classes sort as they do everywhere on the page: 2 before 10; what is not a class comes last.
  const placeOfClass = new Map(data.order.map((k, place) => [k, place]));
  const classPlace = (k) => placeOfClass.get(k) ?? null;

  // A class's values between its 5 and 95 % quantiles, its middle half, its median; and the row's value.
  const strip = (quantiles, low, high, own) => {
    const x = (v) => Number((4 + (112 * (Math.min(Math.max(v, low), high) - low)) / (high - low || 1)).toFixed(1));
    const [a, b, m, c, d] = quantiles;
    const said = `median ${number(m)}; half of the rows from ${number(b)} to ${number(c)}, 90 % from ${number(a)} to ${number(d)}`;
    return svg(
      "svg",
      { viewBox: "0 0 120 18", width: 120, height: 18, role: "img", "aria-label": said, class: "strip" },
      svg("title", {}, said),
      svg("line", { x1: x(a), x2: x(d), y1: 9, y2: 9, class: "whisker" }),
      svg("rect", { x: x(b), y: 4, width: Math.max(1, x(c) - x(b)), height: 10, class: "bar" }),
      svg("line", { x1: x(m), x2: x(m), y1: 3, y2: 15, class: "axis" }),
      own === null ? null : svg("circle", { cx: x(own), cy: 9, r: 4, class: "chosen-dot" }),
    );
  };
  const against = (column, k, own, others) => {
    const classes = column.classes;
    if (!classes || k < 0 || !classes.n[k]) return "–";
    if (column.kind === "words") {
      if (own === null) return "–";
      const count = classes.counts[k][own];
      return count === undefined ? "rare" : `${percent(count / classes.n[k])} have it`;
    }
    const there = others.map((each) => classes.quantiles[each]).filter((q) => q),
      ends = there.flatMap((q) => [q[0], q[4]]).concat(own === null ? [] : [own]);
    return strip(classes.quantiles[k], least(ends), largest(ends), own);
  };

  // Columns in order of their importance, the others behind.
  const ranked = (() => {
    const names = data.columns ? data.columns.list.map((column) => column.name) : [];
    const rank = new Map(names.map((name, k) => [name, k]));
    return data.values
      .map((_, j) => j)
      .sort((a, b) => (rank.get(data.values[a].name) ?? 1e9) - (rank.get(data.values[b].name) ?? 1e9) || a - b);
  })();

  const supportName = (j) => {
    const s = data.reasons.support;
    return s.row ? `row ${number(s.row[j])}` : `no. ${number(j + 1)}`;
  };

  const valuesTable = (i) => {
    const rows = data.rows,
      reasons = data.reasons,
      predicted = rows.predicted[i],
      label = rows.label[i];
    const classes = label === predicted || label < 0 ? [predicted] : [predicted, label];
    const near = reasons && reasons.near ? reasons.near[i].map((j, k) => ({ j, far: reasons.distance[i][k] })) : [];
    const head = el(
      "tr",
      {},
      el("th", { scope: "col" }, "column"),
      el("th", { scope: "col", class: "n" }, "this row"),
      ...classes.map((k) => el("th", { scope: "col" }, "in class ", datum(className(k), 16))),
      ...near.map(({ j, far }) =>
        el(
          "th",
          { scope: "col", class: "n", "data-near": j },
          supportName(j),
          el("br"),
          datum(reasons.support.words[reasons.support.towards[j]], 14),
          el("br"),
          `distance ${number(far, 3)}`,
        ),
      ),
    );
    const line = (c) => {
      const column = data.values[c],
        own = column.values[i];
      return el(
        "tr",
        {},
        el("th", { scope: "row" }, datum(column.name, 28)),
        el("td", { class: "n" }, shown(column, own)),
        ...classes.map((k) => el("td", {}, against(column, k, own, classes))),
        ...near.map(({ j }) =>
          el("td", { class: "n" }, column.support && j < reasons.n_valued ? shown(column, column.support[j]) : "–"),
        ),
      );
    };
    const lines = ranked.map(line),
      caption = near.length
        ? "Its columns, beside its class and its nearest support vectors"
        : "Its columns, beside its class";
    const table = el(
      "table",
      { id: "explore-values" },
      el("caption", {}, caption),
      el("thead", {}, head),
      el("tbody", {}, ...pictures(i, classes.length, near), ...lines),
    );
    lines.slice(COLUMNS_AT_FIRST).forEach((each) => (each.hidden = true));
    const more = el("button", { type: "button" }, `Show ${number(lines.length - COLUMNS_AT_FIRST)} more columns`);
    more.addEventListener("click", () => {
      lines.forEach((each) => (each.hidden = false));
      more.remove();
    });
    return [box(caption, table), lines.length > COLUMNS_AT_FIRST ? more : null];
  };

  // Rows that are square images: this one and its nearest support vectors, as the rest of the page draws them.
  const brightest = data.image ? largest(data.values.map((column) => largest(column.values))) || 1 : 1;
  const picture = (name, values) => {
    const side = data.image;
    const cells = values.map((v, k) =>
      v > 0
        ? svg("rect", {
            x: k % side,
            y: Math.floor(k / side),
            width: 1,
            height: 1,
            class: "pixel",
            "fill-opacity": Math.min(1, v / brightest).toFixed(2),
          })
        : null,
    );
    return svg(
      "svg",
      { viewBox: `0 0 ${side} ${side}`, width: 64, height: 64, role: "img", "aria-label": name, class: "pixels" },
      svg("rect", { width: side, height: side, class: "cell-edge" }),
      ...cells,
    );
  };
  const pictures = (i, n, near) => {
    if (!data.image) return [];
    const own = picture(
      "this row as an image",
      data.values.map((column) => column.values[i]),
    );
    const others = near.map(({ j }) =>
      el(
        "td",
        { class: "n" },
        j < data.reasons.n_valued
          ? picture(
              `${supportName(j)} as an image`,
              data.values.map((column) => (column.support ? column.support[j] : 0)),
            )
          : "–",
      ),
    );
    return [
      el(
        "tr",
        {},
        el("th", { scope: "row" }, "image"),
        el("td", { class: "n" }, own),
        ...Array.from({ length: n }, () => el("td")),
        ...others,
      ),
    ];
  };

  const pullTable = (i) => {
    const reasons = data.reasons,
      rows = data.rows,
      isColumn = reasons.kind === "columns";
    const strongest = largest(reasons.by[i].map(Math.abs)) || 1;
    const lines = reasons.pull[i].map((j, k) => {
      const by = reasons.by[i][k],
        wide = Math.max(1, (58 * Math.abs(by)) / strongest);
      const bar = svg(
        "svg",
        { viewBox: "0 0 120 14", width: 120, height: 14, role: "img", "aria-label": number(by, 3), class: "strip" },
        svg("rect", {
          x: by < 0 ? 60 - wide : 60,
          y: 2,
          width: wide,
          height: 10,
          class: `cell ${by < 0 ? "wrong" : "right"}`,
        }),
        svg("line", { x1: 60, x2: 60, y1: 0, y2: 14, class: "axis" }),
      );
      const who = isColumn
        ? [el("th", { scope: "row" }, datum(reasons.names[j], 28))]
        : [
            el("th", { scope: "row" }, supportName(j)),
            el("td", {}, datum(reasons.support.words[reasons.support.towards[j]], 24)),
          ];
      return el("tr", { "data-pull": j }, ...who, el("td", { class: "n" }, number(by, 3)), el("td", {}, bar));
    });
    const total = reasons.total[i],
      offset = reasons.offset[i],
      sum = total + offset;
    const caption = `What pulled it: the ${lines.length} strongest of ${isColumn ? "its columns" : plural(reasons.n_support, "support vector")}`;
    const head = isColumn ? ["column"] : ["support vector", "strongest vote"];
    const words = el(
      "p",
      { "data-sum": sum },
      datum(className(rows.predicted[i])),
      " against ",
      datum(className(rows.rival[i])),
      `: ${number(sum, 4)}, of which ${number(total, 4)} from all ${isColumn ? "columns" : "support vectors"} and ${number(offset, 4)} from the intercept. A positive number speaks for the predicted class.`,
    );
    return [
      words,
      box(
        caption,
        el(
          "table",
          {},
          el("caption", {}, caption),
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              ...head.map((name) => el("th", { scope: "col" }, name)),
              el("th", { scope: "col", class: "n" }, "pull"),
              el("th"),
            ),
          ),
          el("tbody", {}, ...lines),
        ),
      ),
    ];
  };

  const mapFigure = (choose) => {
    const places = data.reasons && data.reasons.map;
    if (!places) return { element: el("div"), show: () => {}, mark: () => {} };
    const few = data.classes.length <= 6,
      rows = data.rows;
    const [xs, ys] = [0, 1].map((a) => places.rows[a].concat(places.support ? places.support[a] : []));
    const scale = (values, from, to) => {
      const low = least(values),
        high = largest(values);
      return (v) => Number((from + ((v - low) / (high - low || 1)) * (to - from)).toFixed(1));
    };
    const x = scale(xs, 12, WIDTH - 12),
      y = scale(ys, 288, 12);
    const style = (i) =>
      few ? STYLES[Math.max(0, rows.label[i])] : rows.label[i] === rows.predicted[i] ? "one" : "two";
    const dots = places.rows[0].map((_, i) =>
      svg("circle", {
        cx: x(places.rows[0][i]),
        cy: y(places.rows[1][i]),
        r: places.rows[0].length > 500 ? 2.6 : 3.2,
        class: `dot ${style(i)}`,
        "data-row": i,
      }),
    );
    const support = places.support
      ? places.support[0].map((_, j) =>
          svg("rect", {
            x: x(places.support[0][j]) - 3,
            y: y(places.support[1][j]) - 3,
            width: 6,
            height: 6,
            class: "support",
          }),
        )
      : [];
    const ring = svg("circle", { r: 8, class: "ring", visibility: "hidden" });
    const legend = (
      few
        ? data.order.map((k) => [data.classes[k], STYLES[k]])
        : [
            ["predicted correctly", "one"],
            ["mistakes", "two"],
          ]
    ).map(([name, own]) =>
      el(
        "span",
        {},
        svg(
          "svg",
          { viewBox: "0 0 10 10", width: 10, height: 10, "aria-hidden": "true", class: "key" },
          svg("circle", { cx: 5, cy: 5, r: 4, class: `dot ${own}` }),
        ),
        " ",
        datum(name, 24),
      ),
    );
    if (support.length)
      legend.push(
        el(
          "span",
          {},
          svg(
            "svg",
            { viewBox: "0 0 10 10", width: 10, height: 10, "aria-hidden": "true", class: "key" },
            svg("rect", { x: 1.5, y: 1.5, width: 7, height: 7, class: "support" }),
          ),
          " support vectors",
        ),
      );
    const drawing = svg(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} 300`,
        width: WIDTH,
        height: 300,
        role: "img",
        "aria-label": "Map of rows and support vectors; choose rows in the table",
        id: "explore-map",
      },
      ...support,
      ...dots,
      ring,
    );
    drawing.addEventListener("click", (event) => {
      const row = event.target instanceof Element ? event.target.closest("[data-row]") : null;
      if (row) choose(Number(row.dataset.row));
    });
    const element = figure(
      drawing,
      "Map",
      el("span", { class: "legend" }, ...legend),
      " Rows that the model takes for alike lie close: the two leading eigenvectors of the rows' kernel matrix. Choose a row by a click, or in the table.",
    );
    let visible = null; // only what has changed is drawn again
    const show = (which) => {
      const there = new Set(which);
      dots.forEach((dot, i) => {
        if (!visible || visible.has(i) !== there.has(i))
          dot.setAttribute("visibility", there.has(i) ? "visible" : "hidden");
      });
      visible = there;
    };
    const mark = (i) => {
      ring.setAttribute("cx", x(places.rows[0][i]));
      ring.setAttribute("cy", y(places.rows[1][i]));
      ring.setAttribute("visibility", "visible");
    };
    return { element, show, mark };
  };

  const rowsPanel = () => {
    const rows = data.rows,
      every = rows.number.map((_, i) => i);
    const classOptions = () => [
      el("option", { value: "" }, "any"),
      ...data.order.map((k) => el("option", { value: k }, short(data.classes[k], 40))),
    ];
    const select = (id, words, options) => {
      const control = el("select", { id }, ...options);
      return { control, element: field(id, words, control) };
    };
    const label = select("explore-true", "true class", classOptions()),
      predicted = select("explore-predicted", "predicted class", classOptions());
    const outcome = select(
      "explore-outcome",
      "outcome",
      [
        ["", "any"],
        ["right", "correct"],
        ["wrong", "mistake"],
      ].map(([v, words]) => el("option", { value: v }, words)),
    );
    const limits = ["margin", ...(rows.probability ? ["probability"] : [])].map((name) => ({
      values: rows[name],
      low: numberField(`explore-${name}-low`, `${name} from`),
      high: numberField(`explore-${name}-high`, `${name} to`),
    }));
    const title = el(
      "div",
      { role: "status" },
      note("Choose a row to see its columns, its nearest support vectors and what pulled it."),
    );
    const pulls = el("div", { class: "pulls" }),
      values = el("div"),
      detail = el("div", { id: "explore-row" });
    const pick = (i) => {
      map.mark(i);
      const sure = rows.probability ? `, probability ${percent(rows.probability[i])}` : "";
      const head = el(
        "h4",
        {},
        `Row ${number(rows.number[i])}: predicted `,
        datum(className(rows.predicted[i])),
        ", true class ",
        datum(className(rows.label[i])),
        ` (margin ${number(rows.margin[i], 3)}${sure})`,
      );
      title.replaceChildren(head);
      pulls.replaceChildren(...(data.reasons ? pullTable(i) : []));
      values.replaceChildren(...valuesTable(i).filter((each) => each !== null));
      detail.dataset.row = i;
    };
    const columns = [
      { name: "row", right: true, value: (i) => rows.number[i], show: (i) => number(rows.number[i]) },
      {
        name: "true class",
        value: (i) => classPlace(rows.label[i]),
        show: (i) => datum(className(rows.label[i]), 24),
      },
      {
        name: "predicted",
        value: (i) => classPlace(rows.predicted[i]),
        show: (i) => datum(className(rows.predicted[i]), 24),
      },
      { name: "margin", right: true, value: (i) => rows.margin[i], show: (i) => number(rows.margin[i], 3) },
      ...(rows.probability
        ? [
            {
              name: "probability",
              right: true,
              down: true,
              value: (i) => rows.probability[i],
              show: (i) => percent(rows.probability[i]),
            },
          ]
        : []),
      ...data.values.map((column) => ({
        name: column.name,
        right: column.kind === "number",
        value: (i) => value(column, column.values[i]),
        show: (i) => shown(column, column.values[i]),
      })),
    ];
    const caption = "Rows; a header sorts them, Enter or a click chooses one";
    const table = sheet({ id: "explore-rows", caption, columns, pick });
    const map = mapFigure(table.choose);
    detail.append(title, figures(map.element, pulls), values);
    const status = el("p", { role: "status", id: "explore-count", class: "note" });
    const inside = (limit, i) => {
      const own = limit.values[i],
        low = limit.low.control.value,
        high = limit.high.control.value;
      if (low === "" && high === "") return true;
      return own !== null && (low === "" || own >= Number(low)) && (high === "" || own <= Number(high));
    };
    const filter = () => {
      const [a, b, c] = [label, predicted, outcome].map((each) => each.control.value);
      const left = every.filter(
        (i) =>
          (a === "" || rows.label[i] === Number(a)) &&
          (b === "" || rows.predicted[i] === Number(b)) &&
          (c === "" || (rows.label[i] === rows.predicted[i]) === (c === "right")) &&
          limits.every((limit) => inside(limit, i)),
      );
      status.textContent = `${number(left.length)} of the ${plural(every.length, "row")} on this page`;
      status.dataset.value = left.length;
      table.show(left);
      map.show(left);
    };
    const fields = [label, predicted, outcome, ...limits.flatMap((limit) => [limit.low, limit.high])];
    for (const each of fields) each.control.addEventListener("input", filter);
    const reset = el("button", { type: "button", id: "explore-reset" }, "All rows");
    reset.addEventListener("click", () => {
      for (const each of fields) each.control.value = "";
      filter();
    });
    filter();
    const others = rows.number.length - rows.n_random;
    const which =
      rows.number.length === rows.n_rows
        ? `All ${plural(rows.n_rows, "row")} of the file.`
        : `A random sample of ${number(rows.n_random)} of the ${number(rows.n_rows)} rows${others ? `, and ${number(others)} more of the ${number(rows.n_wrong)} mistakes` : ""}.`;
    const rule = data.decided
      ? "negative where another class has a larger score, which the decision by costs may overrule."
      : "negative for a mistake.";
    const some =
      data.values.length < data.n_columns
        ? ` ${number(data.values.length)} of the ${number(data.n_columns)} columns are on this page, those that matter most.`
        : "";
    return panel(
      "explore-samples",
      "Rows",
      el("p", {}, `${which}${some} The margin is the score of the true class less the largest other one: ${rule}`),
      el("div", { class: "controls" }, ...fields.map((each) => each.element), reset),
      status,
      table.element,
      leftOut("reasons", "Explanations"),
      detail,
    );
  };

  // ---- columns ----

  const columnsPanel = () => {
    const c = data.columns;
    if (!c) return leftOut("columns", "Columns");
    const detail = el("div", { id: "explore-column", "aria-live": "polite" });
    const get = (part, name) => (i) => (c.list[i][part] ? c.list[i][part][name] : null);
    const [share, drop, statistic] = [get("own", "own"), get("own", "drop"), get("drift", "statistic")];
    const columns = [
      { name: "column", value: (i) => c.list[i].name, show: (i) => datum(c.list[i].name) },
      { name: "share", right: true, down: true, value: share, show: (i) => percent(share(i)) },
      { name: "lost when shuffled", right: true, down: true, value: drop, show: (i) => points(drop(i)) },
      ...(c.drift
        ? [
            {
              name: "drift",
              right: true,
              down: true,
              value: statistic,
              show: (i) => (statistic(i) === null ? "–" : statistic(i).toFixed(3)),
            },
          ]
        : []),
    ];
    const pick = (i) => {
      const { name, own, effect, drift } = c.list[i],
        parts = [el("h4", {}, datum(name, 60))];
      if (own && own.drop_interval) {
        const [low, high] = own.drop_interval;
        parts.push(
          el(
            "p",
            { "data-drop": own.drop },
            `Shuffling it loses ${points(own.drop)} percentage points of accuracy (95 %: ${points(low)} to ${points(high)})`,
            own.correlated.length ? `, with its correlated columns ${points(own.drop_together)}: ` : ".",
            ...own.correlated.slice(0, 6).map((other) => [datum(other, 24), " "]),
          ),
        );
      }
      if (effect && effect.kind === "number") {
        const chart = lineChart({
          title: `Effect on the ${effect.on}`,
          lines: effect.lines.map((line) => ({ x: effect.x, y: line.values })),
          across: { label: name },
          up: { label: `change of the ${effect.on}`, share: effect.on === "probability" },
        });
        const key = effect.lines.map((line, k) =>
          el(
            "span",
            {},
            svg(
              "svg",
              { viewBox: "0 0 18 10", width: 18, height: 10, class: "key", "aria-hidden": "true" },
              svg("line", { x1: 0, x2: 18, y1: 5, y2: 5, class: `line ${STYLES[k]}` }),
            ),
            " ",
            datum(line.name, 24),
          ),
        );
        parts.push(
          el(
            "div",
            { class: "figures" },
            figure(
              chart.element,
              "Effect",
              el("span", { class: "legend" }, ...key),
              ` Change of the ${effect.on} with this column, all else equal (accumulated local effects).`,
            ),
          ),
        );
      } else if (effect) {
        const factor = effect.on === "probability" ? 100 : 1,
          caption = `Change of the ${effect.on}${factor > 1 ? ", in percentage points" : ""}, with every row set to a category`;
        const lines = effect.categories.map((word, k) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, datum(word)),
            ...effect.lines.map((line) => el("td", { class: "n" }, number(factor * line.values[k], 3))),
          ),
        );
        parts.push(
          box(
            caption,
            el(
              "table",
              {},
              el("caption", {}, caption),
              el(
                "thead",
                {},
                el(
                  "tr",
                  {},
                  el("th", { scope: "col" }, "category"),
                  ...effect.lines.map((line) => el("th", { scope: "col", class: "n" }, datum(line.name, 20))),
                ),
              ),
              el("tbody", {}, ...lines),
            ),
          ),
        );
      } else {
        parts.push(
          note("Its effect was not computed: only those of the most important columns of a dense table are."),
        );
      }
      if (drift)
        parts.push(
          el(
            "p",
            { "data-drift": drift.statistic },
            `It has moved since training: distance ${drift.statistic.toFixed(3)}, p = ${number(drift.p_value, 2)}; training file `,
            datum(drift.old, 40),
            ", this file ",
            datum(drift.new, 40),
            ".",
          ),
        );
      else if (c.drift)
        parts.push(
          note(
            c.drift.n_moved > 20
              ? "It is not among the 20 columns that moved farthest since training."
              : "It has not moved since training.",
          ),
        );
      detail.replaceChildren(...parts);
      detail.dataset.column = i;
    };
    const caption =
      "Columns; share: of what the outputs depend on; lost: percentage points of accuracy" +
      (c.drift ? "; drift: distance from the training file, 0 to 1" : "");
    const table = sheet({ id: "explore-columns", caption, columns, pick, perPage: 10 });
    table.show(c.list.map((_, i) => i));
    if (c.list.length) table.choose(0);
    const some =
      c.list.length < c.n_columns ? ` ${number(c.list.length)} of ${number(c.n_columns)} columns are listed.` : "";
    return panel(
      "explore-features",
      "Columns",
      el("p", {}, `Which columns matter${c.drift ? ", how the answer changes with each, and which have moved" : " and how the answer changes with each"}.${some}`),
      table.element,
      leftOut("drift", "Drift"),
      detail,
    );
  };

  // ---- all of it ----

  home.append(
    ...[el("h2", {}, "Explore"), budgetPanel(), thresholdPanel(), rowsPanel(), columnsPanel()].filter(
      (each) => each !== null,
    ),
  );
  home.hidden = false;
  const contents = document.querySelector("nav ol");
  if (contents) contents.prepend(el("li", {}, el("a", { href: "#explore" }, "Explore")));
})();
